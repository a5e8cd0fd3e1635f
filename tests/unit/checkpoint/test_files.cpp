#include "tests/unit/checkpoint/test_files.h"

#include <fmt/format.h>

#include <fstream>

#include "core/error.h"

namespace bertft::test {

void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string safetensors_bytes(std::string_view json, std::string_view data) {
  std::string bytes;
  for (size_t i = 0; i < 8; ++i) bytes += static_cast<char>(json.size() >> (8 * i) & 0xff);
  bytes += json;
  bytes += data;
  return bytes;
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, size_t begin, size_t end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name, dtype, shape, begin, end);
}

std::string checkpoint_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace bertft::test
