#include "train/table_text.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace bertft {

TableForm parse_table_form(const std::string& name) {
  if (name == "tsv") return TableForm::kTsv;
  if (name == "csv") return TableForm::kCsv;
  if (name == "jsonl") return TableForm::kJsonLines;
  throw ConfigError("--format '" + name + "' is unknown; known: tsv, csv, jsonl, auto (as the input)");
}

TableForm table_form_of(const std::string& format) {
  if (format.starts_with("jsonl")) return TableForm::kJsonLines;
  return format.starts_with("csv") ? TableForm::kCsv : TableForm::kTsv;
}

int64_t append_tsv_cell(std::string& line, std::string_view cell) {
  int64_t replaced = 0;
  for (const char c : cell) {
    const bool is_separator = c == '\t' || c == '\r' || c == '\n';
    replaced += is_separator ? 1 : 0;
    line += is_separator ? ' ' : c;
  }
  return replaced;
}

void append_csv_cell(std::string& line, std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += cell;
    return;
  }
  line += '"';
  for (const char c : cell) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

std::string json_string(std::string_view text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_number(const std::string& cell) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const bool is_number = std::any_of(cell.begin(), cell.end(), is_digit) && nlohmann::json::accept(cell);
  return is_number ? cell : "null";
}

}  // namespace bertft
