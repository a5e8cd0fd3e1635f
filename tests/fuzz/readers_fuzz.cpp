// libFuzzer target: any bytes, read as any format, give rows of valid UTF-8 or a DataError, the same for every block
// size. The first four bytes choose the request. Built and run by scripts/fuzz.sh.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "data/row_stream.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

TableRequest request_of(const uint8_t* choices) {
  static const char* const kFormats[] = {"auto", "tsv", "csv", "jsonl"};
  static const char* const kEncodings[] = {"utf-8", "utf-8", "utf-16", "gb18030"};
  TableRequest request;
  request.format = kFormats[choices[0] % 4];
  request.encoding = kEncodings[choices[0] / 4 % 4];
  request.bad_row = static_cast<BadRow>(choices[1] % 3);
  request.invalid_utf8 = static_cast<InvalidText>(choices[1] / 3 % 3);
  request.needs_label = choices[1] / 9 % 2 == 1;
  request.max_rows = choices[2] % 5;
  if (choices[2] & 0x80) request.columns = {.text = "1", .label = "2"};
  if (request.format != "jsonl" && choices[2] & 0x40) request.schema = "text:str:1,label:str:1";
  request.block_bytes = 1 + choices[3] % 64;
  return request;
}

std::string outcome(const std::string& content, const TableRequest& request) {
  std::string text;
  try {
    const auto stream = open_rows("fuzz", memory_source(content), request);
    while (const auto table = stream->next()) {
      for (int64_t row = 0; row < table->rows(); ++row) {
        for (size_t column = 0; column < table->columns().size(); ++column) {
          const std::string_view cell = table->cell(row, static_cast<int>(column));
          if (!is_valid_utf8(cell)) std::abort();
          text.append(cell) += '|';
        }
        if (!is_valid_utf8(table->raw(row))) std::abort();
        text += '\n';
      }
    }
  } catch (const DataError& error) {
    return error.what();
  }
  return text;
}

}  // namespace
}  // namespace bertft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  bertft::TableRequest request = bertft::request_of(data);
  const std::string content(reinterpret_cast<const char*>(data) + 4, size - 4);
  const std::string in_small_blocks = bertft::outcome(content, request);
  request.block_bytes = size_t{1} << 20;
  if (bertft::outcome(content, request) != in_small_blocks) std::abort();
  return 0;
}
