#include "bench/bench_mode.h"

#include <fmt/format.h>

#include <algorithm>

#include "comm/make_communicator.h"
#include "comm/mpi/plain_allreduce.h"
#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr const char* kPlainMpi = "mpi-allreduce";

CommOptions horovod_options(CommOptions options, bool is_cached) {
  options.mode = "horovod";
  if (options.wire == "mixed") {
    throw ConfigError(
        "--wire mixed: the modes horovod-* know fp32, fp16 and bf16. Choose one of these, or leave them out (--modes)");
  }
  if (options.wire != "auto") options.horovod.wire = options.wire;
  if (options.hierarchical != "auto") options.horovod.hierarchical = options.hierarchical == "true";
  if (!is_cached) options.horovod.cache_capacity = 0;
  if (is_cached && options.horovod.cache_capacity == 0) {
    throw ConfigError("comm.horovod.cache_capacity=0: that is what the mode horovod-uncached sets. Leave it out");
  }
  return options;
}

CommOptions aiacc_options(CommOptions options, const std::string& negotiate) {
  options.mode = "aiacc";
  options.negotiate = negotiate;
  return options;
}

BenchMode mode_of(const std::string& name, const CommOptions& base) {
  if (name == "horovod-uncached") return {name, false, horovod_options(base, false)};
  if (name == "horovod-cached") return {name, false, horovod_options(base, true)};
  if (name == "aiacc-bitvector") return {name, false, aiacc_options(base, "bitvector")};
  if (name == "aiacc-static") return {name, false, aiacc_options(base, "static")};
  if (name == kPlainMpi && has_plain_allreduce()) return {name, true, base};
  if (name == kPlainMpi) {
    throw ConfigError("--modes: mpi-allreduce: this build has no MPI. Build with -DBERTFT_MPI=ON, or leave it out");
  }
  const std::vector<std::string> known = bench_mode_names();
  const auto nearest = nearest_word(name, known);
  throw ConfigError(fmt::format("--modes: '{}' is not a mode{}; known: {}", name,
                                nearest ? "; did you mean " + *nearest + "?" : "", join(known, ", ")));
}

}  // namespace

std::vector<std::string> bench_mode_names() {
  std::vector<std::string> names = {"horovod-uncached", "horovod-cached", "aiacc-bitvector", "aiacc-static"};
  if (has_plain_allreduce()) names.emplace_back(kPlainMpi);
  return names;
}

std::vector<BenchMode> bench_modes(const std::vector<std::string>& names, const CommOptions& base) {
  std::vector<BenchMode> modes;
  for (const std::string& name : names) {
    const auto is_same = [&](const BenchMode& mode) { return mode.name == name; };
    if (std::any_of(modes.begin(), modes.end(), is_same)) throw ConfigError("--modes: " + name + " stands there twice");
    modes.push_back(mode_of(name, base));
  }
  return modes;
}

Layout layout_of(const BenchMode& mode, const Payload& payload) {
  return make_layout(payload.tensors, mode.is_plain_mpi ? kUnitPerParameter : unit_elements(mode.options));
}

}  // namespace bertft
