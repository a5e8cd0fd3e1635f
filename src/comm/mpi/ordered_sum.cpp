#include "comm/mpi/ordered_sum.h"

#include <algorithm>
#include <cstring>

#include "comm/wire/wire_kernels.h"
#include "core/error.h"

namespace bertft::mpi {
namespace {

constexpr int64_t kPiece = 2048;  // elements: a few sources of it fit a cache of 32 KiB

bool sum(const std::vector<const float*>& sources, int64_t count, float* out) {
  return wire::kernels().sum(sources.data(), static_cast<int>(sources.size()), count, out);
}

bool sum(const std::vector<const double*>& sources, int64_t count, double* out) {
  return wire::kernels().sum_doubles(sources.data(), static_cast<int>(sources.size()), count, out);
}

template <typename Element>
class OrderedSum {
 public:
  OrderedSum(const std::vector<Contribution>& sources, const std::function<void(const WrongPiece&)>& on_wrong)
      : sources_(sources), on_wrong_(on_wrong), pieces_(sources.size()), total_(kPiece), of_group_(kPiece) {
    const auto encoded = std::count_if(sources.begin(), sources.end(),
                                       [](const Contribution& one) { return one.code.type != WireType::kFp32; });
    decoded_.resize(static_cast<size_t>(encoded * kPiece));
  }

  void run(int64_t count, Element* out) {
    for (int64_t first = 0; first < count; first += kPiece) {
      const int64_t size = std::min(kPiece, count - first);
      load(first, size);
      if (add(size)) {
        for (size_t i = 0; i < sources_.size(); ++i) on_wrong_({i, first, size, pieces_[i]});
      }
      std::memcpy(out + first, total_.data(), static_cast<size_t>(size) * sizeof(Element));
    }
  }

 private:
  // Where the sources' elements of this piece are, decoded where they have to be.
  void load(int64_t first, int64_t size) {
    float* decoded = decoded_.data();
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Contribution& source = sources_[i];
      if (source.code.type == WireType::kFp32) {
        pieces_[i] = static_cast<const Element*>(source.elements) + first;
        continue;
      }
      if constexpr (sizeof(Element) == sizeof(float)) {
        decode_block(source.code, static_cast<const uint16_t*>(source.elements) + first, size, decoded);
        pieces_[i] = decoded;
        decoded += kPiece;
      } else {
        throw InternalError("doubles travel as they are");
      }
    }
  }

  // Into total_; true when a sum on the way is not finite.
  bool add(int64_t size) {
    bool is_wrong = false;
    for (size_t begin = 0, end = 0; begin < sources_.size(); begin = end) {
      while (end < sources_.size() && sources_[end].group == sources_[begin].group) ++end;
      const auto at = [&](size_t i) { return pieces_.begin() + static_cast<std::ptrdiff_t>(i); };
      const std::vector<const Element*> group(at(begin), at(end));
      is_wrong |= sum(group, size, begin == 0 ? total_.data() : of_group_.data());
      if (begin > 0) is_wrong |= sum({total_.data(), of_group_.data()}, size, total_.data());
    }
    return is_wrong;
  }

  const std::vector<Contribution>& sources_;
  const std::function<void(const WrongPiece&)>& on_wrong_;
  std::vector<const Element*> pieces_;  // [source]
  std::vector<Element> total_, of_group_;
  std::vector<float> decoded_;
};

}  // namespace

void sum_in_order(const std::vector<Contribution>& sources, int64_t count, size_t element_bytes, void* out,
                  const std::function<void(const WrongPiece&)>& on_wrong) {
  check(!sources.empty(), "a sum of nothing");
  const wire::IeeeArithmetic ieee;
  if (element_bytes == sizeof(float)) {
    OrderedSum<float>(sources, on_wrong).run(count, static_cast<float*>(out));
  } else {
    check(element_bytes == sizeof(double), "gradients are floats or doubles");
    OrderedSum<double>(sources, on_wrong).run(count, static_cast<double*>(out));
  }
}

}  // namespace bertft::mpi
