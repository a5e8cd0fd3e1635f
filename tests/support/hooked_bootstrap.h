// A bootstrap with a place for a test to act while ranks connect.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "comm/bootstrap.h"

namespace bertft::test {

// Calls `hook` when this rank has told the others where it listens, before it connects.
class HookedBootstrap final : public Bootstrap {
 public:
  HookedBootstrap(Bootstrap& inner, std::function<void()> hook) : inner_(inner), hook_(std::move(hook)) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::vector<std::string> all_gather(const std::string& mine) override {
    auto all = inner_.all_gather(mine);
    if (++calls_ == 2) hook_();
    return all;
  }
  void barrier() override { inner_.barrier(); }

 private:
  Bootstrap& inner_;
  std::function<void()> hook_;
  int calls_ = 0;
};

}  // namespace bertft::test
