#include "train/shared_source.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace bertft {
namespace {

class SharedSource final : public ByteSource {
 public:
  SharedSource(const World& world, GatherTexts gather, const std::function<std::unique_ptr<ByteSource>()>& open)
      : world_(world), gather_(std::move(gather)) {
    all_or_none(world_, gather_, [&] {
      if (world_.rank == 0) source_ = open();
    });
  }

  size_t read(char* to, size_t bytes) override {
    std::string block;
    all_or_none(world_, gather_, [&] {
      if (!source_) return;
      block.resize(bytes);
      block.resize(source_->read(block.data(), bytes));
    });
    const std::string shared = gather_(block).front();
    check(shared.size() <= bytes, "all ranks read as much as rank 0");
    std::copy(shared.begin(), shared.end(), to);
    return shared.size();
  }

 private:
  const World& world_;
  const GatherTexts gather_;
  std::unique_ptr<ByteSource> source_;  // of rank 0
};

}  // namespace

std::unique_ptr<ByteSource> shared_source(const World& world, const GatherTexts& gather,
                                          const std::function<std::unique_ptr<ByteSource>()>& open) {
  return std::make_unique<SharedSource>(world, gather, open);
}

}  // namespace bertft
