#include "tasks/row_outputs.h"

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

std::span<const double> RowOutputs::row(int64_t row) const {
  const Place& place = places_.at(static_cast<size_t>(row));
  check(place.is_set, "a row was not computed");
  return std::span(values_).subspan(place.begin, place.size);
}

}  // namespace bertft
