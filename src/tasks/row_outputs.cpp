#include "tasks/row_outputs.h"

#include <cstring>

#include "core/error.h"

namespace bertft {

RowOutputs::RowOutputs(int64_t rows) : places_(static_cast<size_t>(rows)) {}

void RowOutputs::set(int64_t row, std::span<const double> values) {
  Place& place = places_.at(static_cast<size_t>(row));
  check(!place.is_set, "a row was computed twice");
  place = {values_.size(), values.size(), true};
  values_.insert(values_.end(), values.begin(), values.end());
  ++rows_set_;
}

// For each row its number and the count of its values, then those.
std::string RowOutputs::packed() const {
  std::string bytes;
  const auto add = [&](const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); };
  for (size_t row = 0; row < places_.size(); ++row) {
    if (!places_[row].is_set) continue;
    const uint64_t header[2] = {row, places_[row].size};
    add(header, sizeof header);
    add(values_.data() + places_[row].begin, places_[row].size * sizeof(double));
  }
  return bytes;
}

void RowOutputs::add_packed(std::string_view bytes) {
  std::vector<double> values;
  while (!bytes.empty()) {
    uint64_t header[2] = {};
    check(bytes.size() >= sizeof header, "packed rows are whole");
    std::memcpy(header, bytes.data(), sizeof header);
    bytes.remove_prefix(sizeof header);
    check(bytes.size() / sizeof(double) >= header[1], "packed rows are whole");
    values.resize(header[1]);
    std::memcpy(values.data(), bytes.data(), header[1] * sizeof(double));
    bytes.remove_prefix(header[1] * sizeof(double));
    set(static_cast<int64_t>(header[0]), values);
  }
}

std::span<const double> RowOutputs::row(int64_t row) const {
  const Place& place = places_.at(static_cast<size_t>(row));
  check(place.is_set, "a row was not computed");
  return std::span(values_).subspan(place.begin, place.size);
}

}  // namespace bertft
