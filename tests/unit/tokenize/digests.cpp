#include "digests.h"

#include <algorithm>
#include <atomic>
#include <sstream>
#include <thread>

#include "core/files.h"
#include "tests/support/sha256.h"
#include "tests/support/test.h"

namespace bertft::test {

void append_ids(const std::vector<int32_t>& ids, std::string* bytes) {
  const auto put = [bytes](int32_t id) {
    const auto bits = static_cast<uint32_t>(id);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes->push_back(static_cast<char>(bits >> shift));
  };
  for (const int32_t id : ids) put(id);
  put(-1);
}

std::string digest(std::string_view bytes) { return sha256_hex(bytes).substr(0, 32); }

DigestTable read_digest_table(const std::string& path) {
  std::istringstream lines(read_file(path));
  DigestTable table;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; cells >> cell;) row.push_back(cell);
    if (table.columns.empty()) {
      table.columns = row;
    } else {
      table.rows.push_back(row);
    }
  }
  return table;
}

std::string golden_path(const std::string& name) { return "tests/golden/tokenize/" + name; }

void check_digests(const DigestTable& table, const std::function<std::string(size_t row, size_t column)>& digest_of) {
  std::vector<std::vector<std::string>> found(table.rows.size(), std::vector<std::string>(table.columns.size(), "-"));
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t row = next++; row < table.rows.size(); row = next++) {
      for (size_t column = 0; column < table.columns.size(); ++column) {
        if (table.rows[row].at(column) != "-") found[row][column] = digest_of(row, column);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();

  size_t different = 0;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t column = 0; column < table.columns.size(); ++column) {
      if (found[row][column] == table.rows[row][column]) continue;
      if (++different <= 10) UNSCOPED_INFO("block " << row << ", column " << table.columns[column] << " differs");
    }
  }
  CHECK(different == 0);
}

}  // namespace bertft::test
