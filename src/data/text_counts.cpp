#include "data/text_counts.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace bertft {

TextCounts count_texts(const Dataset& dataset) {
  const auto hashes = dataset.text_hashes();
  const auto labels = dataset.label_texts();
  TextCounts counts;
  for (const uint8_t is_blank : dataset.blank_texts()) counts.empty += is_blank;
  std::vector<int64_t> order(hashes.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto hash_of = [&](int64_t row) { return hashes[static_cast<size_t>(row)]; };
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return hash_of(a) != hash_of(b) ? hash_of(a) < hash_of(b) : a < b; });
  int64_t first = -1;  // the first row of the present text
  for (const int64_t row : order) {
    if (first < 0 || hash_of(row) != hash_of(first)) {
      first = row;
      continue;
    }
    ++counts.duplicates;
    const auto label_of = [&](int64_t of) { return labels[static_cast<size_t>(of)]; };
    if (!labels.empty() && label_of(row) != label_of(first)) ++counts.contradictions;
  }
  return counts;
}

int64_t count_overlap(const Dataset& training, const Dataset& other) {
  std::vector<uint64_t> known(training.text_hashes().begin(), training.text_hashes().end());
  std::sort(known.begin(), known.end());
  const auto hashes = other.text_hashes();
  return std::count_if(hashes.begin(), hashes.end(),
                       [&](uint64_t hash) { return std::binary_search(known.begin(), known.end(), hash); });
}

}  // namespace bertft
