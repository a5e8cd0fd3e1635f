#include "tests/system/reload_check.h"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "core/files.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, '\t');) cells.push_back(cell);
  return cells;
}

// The named columns of a table, as `tokenize` reads them: one row a line, a tab between the texts of a pair.
std::string texts_of(const std::string& table, const std::vector<std::string>& columns) {
  std::istringstream lines(table);
  std::string line, texts;
  std::getline(lines, line);
  const std::vector<std::string> header = cells_of(line);
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto column = std::find(header.begin(), header.end(), columns[i]) - header.begin();
      texts += (i > 0 ? "\t" : "") + cells.at(static_cast<size_t>(column));
    }
    texts += "\n";
  }
  return texts;
}

}  // namespace

std::string require_success(const RunResult& result) {
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
  return result.out;
}

void ReloadCheck::add(const std::string& model_folder, const std::string& table,
                      const std::vector<std::string>& columns) {
  const std::string name = std::to_string(cases_++);
  const std::string predictions = folder_ / (name + ".predictions");
  require_success(run_binary(
      {"predict", "--model", model_folder, "--data", table, "--output", predictions, "--logits", "--digits", "9"}));
  std::vector<std::string> tokenize = {"tokenize", "--ids", "--model", model_folder, "--data", "-"};
  if (columns.size() == 2) tokenize.push_back("--pair");
  const std::string ids =
      require_success(run_binary({.arguments = tokenize, .input = texts_of(read_file(table), columns)}));
  for (const std::string& word : {std::string("--case"), model_folder, predictions, folder_.write(name, ids)}) {
    arguments_.push_back(word);
  }
}

void ReloadCheck::run(const std::string& python) const {
  const std::string said = require_success(run_program(python, {.arguments = arguments_}));
  std::cout << said;
  CHECK(said.find("different") == std::string::npos);
}

}  // namespace bertft::test
