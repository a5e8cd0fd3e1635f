// Properties of all readers on random content: what is written is read back, where blocks and chunks end makes no
// difference, and damaged files give rows or a DataError, never anything else.
#include <functional>

#include "core/error.h"
#include "core/rng.h"
#include "data/row_stream.h"
#include "tests/unit/data/table_helpers.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

using Texts = std::vector<std::string>;
using Rows = std::vector<Texts>;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t below(uint64_t limit) { return mix64(++state_) % limit; }

 private:
  uint64_t state_;
};

// A text out of pieces that are special somewhere.
std::string random_text(Random& random, const std::vector<std::string>& pieces) {
  std::string text;
  for (uint64_t n = random.below(6); n > 0; --n) text += pieces[random.below(pieces.size())];
  return text;
}

struct Form {
  std::string path;
  std::vector<std::string> pieces;  // of cells
  std::function<std::string(const Texts&, Random&)> write_row;
};

std::string csv_cell(const std::string& cell, Random& random) {
  const bool needs_quotes = cell.find_first_of(",\"\r\n") != std::string::npos;
  if (!needs_quotes && random.below(2) == 0) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string json_cell(const std::string& cell, Random& random) {
  std::string written = "\"";
  for (size_t at = 0; at < cell.size();) {
    const DecodedChar next = decode_utf8(cell, at);
    const auto escape = [&](char32_t unit) {
      static const char* const kDigits = "0123456789abcdef";
      written += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) written += kDigits[unit >> shift & 15];
    };
    const bool must = next.code < 0x20 || next.code == '"' || next.code == '\\';
    if (!must && random.below(3) > 0) {
      written += cell.substr(at, next.bytes);
    } else if (next.code < 0x10000) {
      escape(next.code);
    } else {
      escape(0xD800 + ((next.code - 0x10000) >> 10));
      escape(0xDC00 + ((next.code - 0x10000) & 0x3FF));
    }
    at += next.bytes;
  }
  return written + "\"";
}

std::vector<Form> forms() {
  const std::vector<std::string> plain = {
      "a", " ", "\"", "\\", ",", "'", "\xC3\xA4", "\xE4\xBD\xA0", "\xF0\x9F\x98\x80", "\\u00", "{", "]", "null", "1"};
  std::vector<std::string> lines = plain;
  for (const char* piece : {"\n", "\r\n", "\r", "\t", "\"\""}) lines.emplace_back(piece);
  return {
      {"t.tsv", plain,
       [](const Texts& row, Random& random) {
         return row[0] + "\t" + row[1] + "\t" + row[2] + (random.below(2) == 0 ? "\n" : "\r\n");
       }},
      {"t.csv", lines,
       [](const Texts& row, Random& random) {
         return csv_cell(row[0], random) + "," + csv_cell(row[1], random) + "," + csv_cell(row[2], random) +
                (random.below(2) == 0 ? "\n" : "\r\n");
       }},
      {"t.jsonl", lines,
       [](const Texts& row, Random& random) {
         const std::string blank = random.below(2) == 0 ? "" : " ";
         return "{" + blank + "\"text\":" + json_cell(row[0], random) + blank + ",\"label\":" + blank +
                json_cell(row[1], random) + ",\"n\":" + json_cell(row[2], random) + "}" + blank + "\n";
       }},
  };
}

// Content of `count` random rows behind a header.
std::string random_file(const Form& form, Random& random, int count, Rows& rows) {
  std::string content = form.path == "t.jsonl" ? "" : form.write_row({"text", "label", "n"}, random);
  for (int i = 0; i < count; ++i) {
    rows.push_back({random_text(random, form.pieces), random_text(random, form.pieces), "n" + std::to_string(i)});
    content += form.write_row(rows.back(), random);
  }
  return content;
}

TableRequest small_request(size_t block_bytes, size_t chunk_bytes) {
  TableRequest request = test::labelled_request();
  request.block_bytes = block_bytes;
  request.chunk_bytes = chunk_bytes;
  return request;
}

Rows read_rows(const std::string& path, const std::string& content, const TableRequest& request) {
  const auto stream = open_rows(path, memory_source(content), request);
  Rows rows;
  while (const auto table = stream->next()) {
    for (int64_t row = 0; row < table->rows(); ++row) {
      rows.emplace_back();
      for (size_t c = 0; c < table->columns().size(); ++c) {
        rows.back().emplace_back(table->cell(row, static_cast<int>(c)));
        REQUIRE(is_valid_utf8(rows.back().back()));
      }
      REQUIRE(is_valid_utf8(table->raw(row)));
    }
  }
  return rows;
}

TEST_CASE("What is written is read back, in blocks and chunks of every size") {
  Random random(7);
  for (const Form& form : forms()) {
    for (int round = 0; round < 30; ++round) {
      Rows rows;
      const std::string content = random_file(form, random, 8, rows);
      INFO(form.path << ":\n" << content);
      REQUIRE(read_rows(form.path, content, small_request(1 << 20, 8 << 20)) == rows);
      for (size_t block_bytes = 1; block_bytes <= 64; block_bytes += round < 4 ? 1 : 9) {
        const size_t chunk_bytes = 1 + random.below(200);
        INFO("blocks of " << block_bytes << ", chunks of " << chunk_bytes);
        REQUIRE(read_rows(form.path, content, small_request(block_bytes, chunk_bytes)) == rows);
      }
      const std::string without_end = content.substr(0, content.find_last_not_of("\r\n") + 1);
      if (rows.back().back().find('\n') == std::string::npos) {
        REQUIRE(read_rows(form.path, without_end, small_request(64, 64)) == rows);
      }
    }
  }
}

// The outcome of reading, with faults, in a form that can be compared.
std::string outcome(const std::string& path, const std::string& content, const TableRequest& request) {
  std::string text;
  try {
    for (const Texts& row : read_rows(path, content, request)) {
      for (const std::string& cell : row) text += cell + "|";
      text += "\n";
    }
  } catch (const DataError& error) {
    REQUIRE(std::string(error.what()).size() < 20'000);
    REQUIRE(is_valid_utf8(error.what()));
    return std::string("error: ") + error.what();
  }
  return text;
}

std::string damaged(std::string content, Random& random) {
  static const std::vector<std::string> kPieces = {"\"",
                                                   "\n",
                                                   "\r",
                                                   "\t",
                                                   ",",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "\\",
                                                   "\\ud83d",
                                                   "\xFF",
                                                   "\xEF\xBB\xBF",
                                                   std::string(1, '\0'),
                                                   "\xED\xA0\x80",
                                                   "",
                                                   "\xC3"};
  for (uint64_t n = 1 + random.below(5); n > 0 && !content.empty(); --n) {
    const size_t at = random.below(content.size());
    const std::string& piece = kPieces[random.below(kPieces.size())];
    content.replace(at, random.below(4), piece);
    if (random.below(20) == 0) content.resize(random.below(content.size() + 1));
    if (random.below(40) == 0) content += content;
  }
  return content;
}

TEST_CASE("Damaged files give rows or a DataError, whatever the block size") {
  Random random(11);
  const BadRow policies[] = {BadRow::kError, BadRow::kSkip, BadRow::kKeep};
  const InvalidText texts[] = {InvalidText::kReplace, InvalidText::kError, InvalidText::kSkip};
  const char* encodings[] = {"utf-8", "gb18030", "utf-16"};
  for (const Form& form : forms()) {
    for (int round = 0; round < 700; ++round) {
      Rows rows;
      const std::string content = damaged(random_file(form, random, 5, rows), random);
      TableRequest whole = small_request(1 << 20, 8 << 20);
      whole.bad_row = policies[random.below(3)];
      whole.invalid_utf8 = texts[random.below(3)];
      whole.encoding = encodings[random.below(16) < 14 ? 0 : 1 + random.below(2)];
      whole.needs_label = random.below(2) == 0;
      whole.max_rows = random.below(8) == 0 ? 3 : 0;
      TableRequest cut = whole;
      cut.block_bytes = 1 + random.below(64);
      INFO(form.path << ", blocks of " << cut.block_bytes << ":\n" << content);
      const std::string expected = outcome(form.path, content, whole);
      REQUIRE(outcome(form.path, content, cut) == expected);
      cut.chunk_bytes = 1 + random.below(64);  // rows before a fault may be handed out: compare whole outcomes only
      REQUIRE(outcome(form.path, content, cut) == expected);
    }
  }
}

}  // namespace
}  // namespace bertft
