// Small helpers on text that several layers need for clear messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bertft {

// The candidate with the smallest edit distance to `word`, if it is near enough to be what was meant.
std::optional<std::string> nearest_word(const std::string& word, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// `text` as one word of a POSIX shell: in single quotes where it needs them.
std::string shell_quoted(const std::string& text);

// 1234567 -> "1,234,567".
std::string with_thousands(int64_t number);

// Text for a message: control characters escaped, cut to `max_bytes` at a character with "..." when longer.
std::string excerpt(std::string_view text, size_t max_bytes = 60);

}  // namespace bertft
