#include "ops/shapes.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace bertft::ops {
namespace {

[[noreturn]] void fail(const char* name, const at::Tensor& x, const std::string& wanted) {
  std::string found = "undefined";
  if (x.defined()) {
    found = std::string(c10::toString(x.scalar_type())) + " [";
    for (int64_t i = 0; i < x.dim(); ++i) {
      found += (i > 0 ? ", " : "") + std::to_string(x.size(i));
    }
    found += "] on " + x.device().str();
  }
  throw InternalError(std::string("operation argument ") + name + ": wanted " + wanted + ", got " + found);
}

bool matches(const at::Tensor& x, const at::Tensor& like) {
  return x.scalar_type() == like.scalar_type() && x.device() == like.device();
}

}  // namespace

void check_matrix(const at::Tensor& x, int64_t rows, int64_t columns, const at::Tensor& like, const char* name) {
  const bool fits = x.defined() && x.dim() == 2 && x.size(0) == rows && x.size(1) == columns && matches(x, like) &&
                    (columns <= 1 || x.stride(1) == 1) && (rows <= 1 || x.stride(0) >= columns);
  if (!fits) {
    fail(name, x,
         "[" + std::to_string(rows) + ", " + std::to_string(columns) + "] with contiguous rows of " +
             c10::toString(like.scalar_type()) + " on " + like.device().str());
  }
}

void check_vector(const at::Tensor& x, int64_t size, const at::Tensor& like, const char* name) {
  const bool fits = x.defined() && x.dim() == 1 && x.size(0) == size && matches(x, like) && x.is_contiguous();
  if (!fits) {
    fail(name, x,
         "contiguous [" + std::to_string(size) + "] of " + c10::toString(like.scalar_type()) + " on " +
             like.device().str());
  }
}

void check_sequences(const Sequences& sequences) {
  const auto& offsets = sequences.offsets;
  check(!offsets.empty() && offsets.front() == 0, "sequence offsets start at 0");
  int64_t longest = 0;
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    check(offsets[s + 1] > offsets[s], "every sequence has at least one row");
    longest = std::max<int64_t>(longest, offsets[s + 1] - offsets[s]);
  }
  check(sequences.max_length == longest, "max_length is the length of the longest sequence");
}

void check_dropout(const Dropout& dropout, const Sequences& sequences) {
  check(dropout.probability >= 0.0 && dropout.probability < 1.0, "a dropout probability lies in [0, 1)");
  if (!dropout.is_active()) return;
  check(static_cast<int64_t>(dropout.keys.size()) == sequences.count(), "dropout needs one key per sequence");
}

}  // namespace bertft::ops
