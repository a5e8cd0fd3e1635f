#include "optim/flat_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "optim/kernels/square_sum.h"

namespace bertft {
namespace {

struct Block {
  int64_t begin, size;
  int entry;
};

// Blocks of rows that were not touched would add zeros, which changes no sum.
std::vector<Block> blocks_of(const Layout& layout, const TableRows& touched) {
  std::vector<Block> blocks;
  for (size_t e = 0; e < layout.entries.size(); ++e) {
    const LayoutEntry& entry = layout.entries[e];
    if (!entry.spec.is_trainable) break;  // all behind it are frozen, too
    const int index = static_cast<int>(e);
    if (index == touched.entry) {
      check(entry.spec.is_lookup_table, "rows are touched of lookup tables only");
      for (const int32_t row : touched.rows) {
        blocks.push_back({entry.offset + row * entry.norm_block, entry.norm_block, index});
      }
      continue;
    }
    for (int64_t at = 0; at < entry.size; at += entry.norm_block) {
      blocks.push_back({entry.offset + at, std::min(entry.norm_block, entry.size - at), index});
    }
  }
  return blocks;
}

template <typename T>
GradientNorm norm_of(const T* flat, const Layout& layout, const TableRows& touched) {
  const std::vector<Block> blocks = blocks_of(layout, touched);
  const auto count = static_cast<int64_t>(blocks.size());
  std::vector<double> sums(blocks.size());
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < count; ++b) {
    const Block& block = blocks[static_cast<size_t>(b)];
    sums[static_cast<size_t>(b)] = square_sum(flat + block.begin, block.size);
  }
  GradientNorm result;
  double total = 0.0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    total += sums[b];
    if (result.first_non_finite < 0 && !std::isfinite(sums[b])) result.first_non_finite = blocks[b].entry;
  }
  result.norm = std::sqrt(total);
  return result;
}

}  // namespace

GradientNorm gradient_norm(const at::Tensor& flat, const Layout& layout, const TableRows& touched) {
  check(flat.numel() == layout.trainable_total && flat.is_contiguous(), "the flat buffer does not fit its layout");
  if (!flat.is_cpu()) return gradient_norm(flat.cpu(), layout, touched);
  if (flat.scalar_type() == at::kFloat) return norm_of(flat.const_data_ptr<float>(), layout, touched);
  check(flat.scalar_type() == at::kDouble, "gradients are fp32 or fp64");
  return norm_of(flat.const_data_ptr<double>(), layout, touched);
}

double clip_factor(double norm, double max_norm) {
  if (max_norm <= 0.0) return 1.0;
  return std::min(1.0, max_norm / (norm + 1e-6));
}

}  // namespace bertft
