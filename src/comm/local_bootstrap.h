// The bootstrap of a world of one: nobody to find.
#pragma once

#include "comm/bootstrap.h"

namespace bertft {

class LocalBootstrap final : public Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::string> all_gather(const std::string& mine) override { return {mine}; }
  void barrier() override {}
};

}  // namespace bertft
