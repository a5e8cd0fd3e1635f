// Cells as the text of a table: the three forms in which predictions are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bertft {

enum class TableForm {
  kTsv,        // a tab between cells, no quoting: a tab, CR or LF inside a cell becomes a blank
  kCsv,        // RFC 4180 with LF at the end of lines: cells with a comma, quote, CR or LF are quoted
  kJsonLines,  // one object per line
};

// "tsv", "csv", "jsonl". Throws ConfigError naming --format.
TableForm parse_table_form(const std::string& name);

// The form of what was read, as ReadNotes::format names it; TSV for plain text and folders of texts.
TableForm table_form_of(const std::string& format);

// Appends a cell; returns how many characters were replaced.
int64_t append_tsv_cell(std::string& line, std::string_view cell);
void append_csv_cell(std::string& line, std::string_view cell);

// With its quotes. Invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

// The cell itself where it is a number as JSON writes them, else null.
std::string json_number(const std::string& cell);

}  // namespace bertft
