// The options of section `comm`: how gradients are exchanged when there are several ranks.
#pragma once

#include <cstdint>
#include <string>

#include "core/option_table.h"

namespace bertft {

// `comm.horovod.*`: of mode horovod alone.
struct HorovodOptions {
  double cycle_ms = 1.0;
  int64_t fusion_mb = 128;
  int64_t cache_capacity = 1024;
  std::string wire = "fp32";
  bool hierarchical = false;
};

struct CommOptions {
  std::string mode = "aiacc";
  std::string transport = "auto";
  std::string wire = "auto";
  std::string hierarchical = "auto";
  AutoInt lanes;
  AutoDouble unit_mb;
  std::string negotiate = "auto";
  std::string sparse_embeddings = "auto";
  std::string nan = "skip";
  double stall_warn_s = 5.0;
  double stall_abort_s = 120.0;
  std::string interface;
  int64_t port_base = 0;
  std::string timeline;  // path; "" for none
  HorovodOptions horovod;
};

OptionTable comm_option_table(CommOptions& options);

}  // namespace bertft
