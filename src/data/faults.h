// Collects the faults of a data file, so that one message names all of them instead of the first.
// A file can have millions: only the first ones are kept as text, the others are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bertft {

inline constexpr size_t kShownFaults = 20;

class FaultList {
 public:
  // `make_text` returns the text of the fault, "file:line: ..."; it is called only for faults that are shown.
  template <typename MakeText>
  void add(MakeText&& make_text) {
    ++count_;
    if (texts_.size() < kShownFaults) texts_.push_back(std::forward<MakeText>(make_text)());
  }

  int64_t count() const { return count_; }

  // Throws DataError "<headline>:\n  <fault>\n  ...\n  and N more\n<remedy>" when there is any fault. The headline may
  // hold the count.
  void throw_if_any(const std::string& headline, const std::string& remedy) const;

 private:
  int64_t count_ = 0;
  std::vector<std::string> texts_;
};

// The candidate that was probably meant by `word`, as nearest_word, but safe for texts of any size: names longer than
// 200 bytes are neither looked for nor found.
std::optional<std::string> nearest_name(std::string_view word, const std::vector<std::string>& candidates);

// " (nearest: 'x')" or "".
std::string nearest_hint(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace bertft
