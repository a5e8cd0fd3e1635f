#include "data/faults.h"

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr size_t kNameBytes = 200;

}  // namespace

void FaultList::throw_if_any(const std::string& headline, const std::string& remedy) const {
  if (count_ == 0) return;
  std::string message = headline + ":\n";
  for (const std::string& text : texts_) message += "  " + text + "\n";
  const auto shown = static_cast<int64_t>(texts_.size());
  if (count_ > shown) message += "  and " + with_thousands(count_ - shown) + " more\n";
  throw DataError(message + remedy);
}

std::optional<std::string> nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kNameBytes) return std::nullopt;
  std::vector<std::string> plausible;
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t shorter = std::min(word.size(), candidate.size());
    if (candidate.size() <= kNameBytes && longer - shorter <= std::max<size_t>(2, word.size() / 3)) {
      plausible.push_back(candidate);
    }
  }
  return nearest_word(std::string(word), plausible);
}

std::string nearest_hint(std::string_view word, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = nearest_name(word, candidates);
  return nearest ? " (nearest: '" + excerpt(*nearest) + "')" : "";
}

}  // namespace bertft
