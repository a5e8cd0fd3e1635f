// What a node has to say at one moment: the units that all its ranks have ready, the flags that any of them has raised.
#pragma once

#include <cstdint>

#include "comm/unit_set.h"

namespace bertft {

struct Readiness {
  UnitSet ready;       // AND over the ranks of the node; only grows within a step
  uint32_t flags = 0;  // OR over the ranks of the node, StatusFlag
};

class ReadinessSource {
 public:
  // As of now, for `step`: a rank of the node that is not in that step has nothing ready and no flag.
  virtual Readiness read(int64_t step) const = 0;

 protected:
  ~ReadinessSource() = default;
};

}  // namespace bertft
