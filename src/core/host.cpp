#include "core/host.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

namespace bertft {
namespace {

constexpr int kFieldsToStartTime = 20;  // of /proc/PID/stat behind the name, the 22nd of all

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::string start_of_process(int64_t pid) {
  const std::string stat = first_line("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return "";
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < kFieldsToStartTime; ++i) fields >> field;
  return field;
}

}  // namespace bertft
