#include "optim/late_decay.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <type_traits>

#include "core/error.h"

namespace bertft {
namespace {

template <typename T>
void multiply(T* values, int64_t count, T factor) {
  for (int64_t i = 0; i < count; ++i) values[i] *= factor;
}

// Calls work with a null pointer of the type of the elements.
template <typename Work>
void with_type_of(const at::Tensor& tensor, const Work& work) {
  if (tensor.scalar_type() == at::kDouble) {
    work(static_cast<double*>(nullptr));
  } else {
    check(tensor.scalar_type() == at::kFloat, "weights are fp32 or fp64");
    work(static_cast<float*>(nullptr));
  }
}

template <typename T>
bool is_zero(const T* values, int64_t count) {
  return std::all_of(values, values + count, [](T value) { return value == T(0); });
}

}  // namespace

LateDecay::LateDecay(const LayoutEntry& table)
    : offset_(table.offset),
      rows_(table.spec.shape.at(0)),
      width_(table.spec.shape.at(1)),
      is_live_(static_cast<size_t>(rows_), 0),
      settled_(static_cast<size_t>(rows_), 0) {}

void LateDecay::make_live(const at::Tensor& weights, std::span<const int32_t> rows) {
  settle_rows(weights, rows);
  mark_live(rows);
}

void LateDecay::make_all_live(const at::Tensor& weights) {
  if (static_cast<int64_t>(live_.size()) == rows_) return;
  settle(weights);
  std::vector<int32_t> all(static_cast<size_t>(rows_));
  std::iota(all.begin(), all.end(), 0);
  mark_live(all);
}

void LateDecay::mark_live(std::span<const int32_t> rows) {
  std::vector<int32_t> added;
  for (const int32_t row : rows) {
    if (is_live_.at(static_cast<size_t>(row)) == 0) added.push_back(row);
    is_live_[static_cast<size_t>(row)] = 1;
  }
  if (added.empty()) return;
  std::vector<int32_t> merged;
  merged.reserve(live_.size() + added.size());
  std::merge(live_.begin(), live_.end(), added.begin(), added.end(), std::back_inserter(merged));
  live_ = std::move(merged);
}

void LateDecay::find_live(const at::Tensor& weights, const at::Tensor& first_moment, const at::Tensor& second_moment) {
  settle(weights);
  std::vector<int32_t> found;
  with_type_of(first_moment, [&]<typename T>(T* /*type*/) {
    const T* m = table_of(first_moment).const_data_ptr<T>();
    const T* v = table_of(second_moment).const_data_ptr<T>();
    for (int64_t row = 0; row < rows_; ++row) {
      const int64_t at = row * width_;
      if (!is_zero(m + at, width_) || !is_zero(v + at, width_)) found.push_back(static_cast<int32_t>(row));
    }
  });
  std::fill(is_live_.begin(), is_live_.end(), uint8_t{0});
  live_.clear();
  mark_live(found);
}

void LateDecay::add_factor(double factor) {
  if (factor != 1.0) factors_.push_back(factor);
}

void LateDecay::settle_rows(const at::Tensor& weights, std::span<const int32_t> rows) {
  if (factors_.empty()) return;
  with_type_of(weights, [&]<typename T>(T* /*type*/) {
    T* table = table_of(weights).mutable_data_ptr<T>();
    for (const int32_t row : rows) settle_row(table, row);
  });
}

void LateDecay::settle(const at::Tensor& weights) {
  if (factors_.empty()) return;
  with_type_of(weights, [&]<typename T>(T* /*type*/) {
    T* table = table_of(weights).mutable_data_ptr<T>();
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t row = 0; row < rows_; ++row) settle_row(table, row);
  });
  factors_.clear();
  std::fill(settled_.begin(), settled_.end(), 0u);
}

template <typename T>
void LateDecay::settle_row(T* table, int64_t row) {
  const auto r = static_cast<size_t>(row);
  if (is_live_[r] != 0) return;
  for (size_t f = settled_[r]; f < factors_.size(); ++f) {
    multiply(table + row * width_, width_, static_cast<T>(factors_[f]));
  }
  settled_[r] = static_cast<uint32_t>(factors_.size());
}

at::Tensor LateDecay::table_of(const at::Tensor& flat) const { return flat.narrow(0, offset_, rows_ * width_); }

}  // namespace bertft
