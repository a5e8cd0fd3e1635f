#include "comm/options.h"

#include "comm/nccl/real_functions.h"
#include "comm/start.h"

namespace bertft {
namespace {

std::vector<std::string> transports() {
  std::vector<std::string> names = {"auto", "native", "mpi"};
  if (nccl::has_real_functions()) names.push_back("nccl");
  return names;
}

void add_horovod(std::vector<Option>& options, HorovodOptions& horovod) {
  options.push_back({.key = "horovod.cycle_ms",
                     .target = &horovod.cycle_ms,
                     .help = "mode horovod: time between two cycles of negotiation",
                     .unit = "ms",
                     .min = 0.0,
                     .max = 1000.0});
  options.push_back({.key = "horovod.fusion_mb",
                     .target = &horovod.fusion_mb,
                     .help = "mode horovod: gradients are copied together up to this size; 0: never",
                     .unit = "MiB",
                     .min = 0,
                     .max = 4096});
  options.push_back({.key = "horovod.cache_capacity",
                     .target = &horovod.cache_capacity,
                     .help = "mode horovod: responses that are kept, so that bits stand for names; 0: none",
                     .min = 0,
                     .max = 1 << 20});
  options.push_back({.key = "horovod.wire",
                     .target = &horovod.wire,
                     .help = "mode horovod: number format between nodes",
                     .choices = {"fp32", "fp16", "bf16"}});
  options.push_back({.key = "horovod.hierarchical",
                     .target = &horovod.hierarchical,
                     .help = "mode horovod: sum inside each node first"});
}

}  // namespace

OptionTable comm_option_table(CommOptions& options) {
  OptionTable table{
      "comm",
      {{.key = "mode",
        .target = &options.mode,
        .help = "how ranks agree which gradients are summed: aiacc (decentral, by events) or horovod (its cycle with a "
                "coordinator); one process exchanges nothing",
        .choices = {"aiacc", "horovod"}},
       {.key = "transport",
        .target = &options.transport,
        .help = "what moves the bytes; native: shared memory inside a node, TCP between nodes; mpi: the collectives of "
                "the MPI library, on whatever network it knows; nccl (in a build with CUDA): NCCL, for gradients on "
                "devices; auto: native",
        .choices = transports()},
       {.key = "wire",
        .target = &options.wire,
        .help = "mode aiacc: number format between nodes (inside a node fp32, except over mpi on a single node); auto: "
                "mixed when there are several nodes; mixed: fp16 for matrices, fp32 for vectors and blocks that fp16 "
                "cannot hold",
        .choices = {"auto", "fp32", "fp16", "bf16", "mixed"}},
       {.key = "hierarchical",
        .target = &options.hierarchical,
        .help = "mode aiacc: sum inside each node first; auto: when a node has several ranks",
        .choices = {"auto", "true", "false"}},
       {.key = "lanes",
        .target = &options.lanes,
        .help = "mode aiacc: independent streams of sums, each with a connection and a thread of its own",
        .min = 1,
        .max = 64,
        .auto_rule = "1"},
       {.key = "unit_mb",
        .target = &options.unit_mb,
        .help =
            "mode aiacc: gradients are exchanged in units of about this size: larger parameters are divided, smaller "
            "ones share a unit",
        .unit = "MiB",
        .min = 0.001,
        .max = 1024.0,
        .auto_rule = "4"},
       {.key = "negotiate",
        .target = &options.negotiate,
        .help = "mode aiacc: bitvector (bits of readiness each step) or static (after three steps in the same order "
                "that order is kept, without messages); auto: bitvector",
        .choices = {"auto", "bitvector", "static"}},
       {.key = "sparse_embeddings",
        .target = &options.sparse_embeddings,
        .help =
            "mode aiacc: of the gradient of the word embeddings only the rows are sent that any rank's texts of the "
            "step use: true (whenever there are others), false (never), auto (when they are at most half of all)",
        .choices = {"auto", "true", "false"}},
       {.key = "nan",
        .target = &options.nan,
        .help =
            "a gradient that is not finite, on any rank: skip drops the step on all of them (three in a row end the "
            "run), report goes on with it, abort ends the run",
        .choices = {"skip", "report", "abort"}},
       {.key = "stall_warn_s",
        .target = &options.stall_warn_s,
        .help = "a step that waits this long for other ranks is reported; 0: never",
        .unit = "seconds",
        .min = 0.0},
       {.key = "stall_abort_s",
        .target = &options.stall_abort_s,
        .help = "a step that waits this long for other ranks ends the job; 0: never",
        .unit = "seconds",
        .min = 0.0},
       {.key = "interface",
        .target = &options.interface,
        .help = "network interfaces between nodes: names, addresses or networks (10.1.0.0/16), divided by commas; "
                "empty: any that reaches every node"},
       {.key = "port_base",
        .target = &options.port_base,
        .help = "first TCP port that ranks listen on; 0: free ones",
        .min = 0,
        .max = 65000},
       {.key = "timeline",
        .target = &options.timeline,
        .help = "write when each gradient was ready, agreed on and summed to this file, which chrome://tracing and "
                "Perfetto open; rank 0 writes it, with %r in its name every rank one; empty: none",
        .kind = OptionKind::kPath}}};
  add_horovod(table.options, options.horovod);
  const std::string reason = "the communicator of this build does without";
  for (const char* key : {"sharded_optimizer", "tune"}) {
    table.not_in_this_build[key] = reason;
  }
  if (!has_mpi()) table.not_in_this_build["transport=mpi"] = "it was built without MPI; use native";
  if (!nccl::has_real_functions()) {
    table.not_in_this_build["transport=nccl"] = "this build has no CUDA; native sums gradients on the CPU";
  }
  return table;
}

}  // namespace bertft
