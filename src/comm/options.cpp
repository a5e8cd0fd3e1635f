#include "comm/options.h"

namespace bertft {

OptionTable comm_option_table(CommOptions& options) {
  OptionTable table{"comm",
                    {{.key = "mode",
                      .target = &options.mode,
                      .help = "how gradients are exchanged between processes (one process exchanges nothing)",
                      .choices = {"aiacc", "horovod"}}}};
  const std::string reason = "data-parallel training is not in this build; one process needs no such setting";
  for (const char* key :
       {"transport", "wire", "hierarchical", "lanes", "unit_mb", "negotiate", "sharded_optimizer", "sparse_embeddings",
        "nan", "stall_warn_s", "stall_abort_s", "interface", "port_base", "timeline", "tune", "horovod"}) {
    table.not_in_this_build[key] = reason;
  }
  return table;
}

}  // namespace bertft
