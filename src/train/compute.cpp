#include "train/compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "comm/cuda_platform.h"
#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "ops/matrix_product.h"
#include "ops/product_inputs.h"

namespace bertft {
namespace {

using Json = nlohmann::json;

constexpr const char* kOpenMpVariable = "OMP_NUM_THREADS";

// What one rank has to compute with.
struct Offer {
  CpuShare share;
  InstructionSet instructions = InstructionSet::kScalar;
  std::string openmp_threads;  // the variable's text, "" when it is not set
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string packed(const Offer& offer) {
  const double quota = offer.share.quota.value_or(0.0);
  return Json{offer.share.cores, offer.share.reachable, quota, static_cast<int>(offer.instructions),
              offer.openmp_threads}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Offer unpacked(const std::string& text) {
  const Json json = Json::parse(text);
  Offer offer;
  json[0].get_to(offer.share.cores);
  json[1].get_to(offer.share.reachable);
  if (json[2].get<double>() > 0.0) offer.share.quota = json[2].get<double>();
  offer.instructions = static_cast<InstructionSet>(json[3].get<int>());
  json[4].get_to(offer.openmp_threads);
  return offer;
}

void check_device(const RunOptions& options) {
  if (options.device != "cuda") return;
  throw ConfigError(
      fmt::format("device: cuda was asked for, but this build computes on the CPU only ({}). Set device: cpu or auto",
                  describe(cuda_platform())));
}

std::vector<CpuShare> shares_of(const std::vector<Offer>& offers) {
  std::vector<CpuShare> shares;
  for (const Offer& offer : offers) shares.push_back(offer.share);
  return shares;
}

// The shares of one node's ranks, and where `rank` is among them.
std::vector<CpuShare> shares_of_node(const World& world, const std::vector<CpuShare>& shares, int node) {
  std::vector<CpuShare> found;
  for (int rank = 0; rank < world.size; ++rank) {
    if (world.node_of[static_cast<size_t>(rank)] == node) found.push_back(shares[static_cast<size_t>(rank)]);
  }
  return found;
}

void warn_of_binding(const World& world, const std::vector<CpuShare>& shares) {
  for (int node = 0; node < world.nodes; ++node) {
    const std::string fault = binding_fault(shares_of_node(world, shares, node));
    if (fault.empty()) continue;
    const auto first = std::find(world.node_of.begin(), world.node_of.end(), node) - world.node_of.begin();
    log::warn(
        fmt::format("{}: {}. Pass --bind-to none to mpirun (scripts/launch_mpi.sh does), or drop the mask of "
                    "taskset or the batch system",
                    world.hosts[static_cast<size_t>(first)], fault));
  }
}

// Some batch systems and launchers set it for every program.
void warn_of_openmp_variable(const World& world, const std::vector<Offer>& offers, int threads) {
  for (int rank = 0; rank < world.size; ++rank) {
    const std::string& text = offers[static_cast<size_t>(rank)].openmp_threads;
    if (text.empty() || text == std::to_string(threads)) continue;
    log::warn(fmt::format("{}={}{} is not used: `threads` sets how many compute threads each rank has, {} here",
                          kOpenMpVariable, excerpt(text), world.size > 1 ? " of " + world.name_of(rank) : "", threads));
    return;
  }
}

// The lowest instruction set of all ranks. Returns whose it is when this lowers that of another.
std::string agree_on_kernels(const World& world, const std::vector<Offer>& offers) {
  const auto by_level = [](const Offer& a, const Offer& b) { return a.instructions < b.instructions; };
  const auto [lowest, highest] = std::minmax_element(offers.begin(), offers.end(), by_level);
  lower_instruction_set(lowest->instructions);
  if (lowest->instructions == highest->instructions) return "";
  return fmt::format("the most that {} has", world.name_of(static_cast<int>(lowest - offers.begin())));
}

// Ranks on processors of different makers would multiply with different libraries; our own kernels work on all.
void agree_on_products(const GatherTexts& gather) {
  const std::vector<std::string> libraries = gather(ops::product_library_name(ops::product_library()));
  if (std::count(libraries.begin(), libraries.end(), libraries.front()) == std::ssize(libraries)) return;
  ops::set_product_library(ops::ProductLibrary::kOwn);
}

}  // namespace

ThreadCount agreed_threads(const World& world, const std::vector<CpuShare>& shares) {
  std::vector<ThreadCount> counts;
  for (int rank = 0; rank < world.size; ++rank) {
    const int node = world.node_of[static_cast<size_t>(rank)];
    const auto before = std::count(world.node_of.begin(), world.node_of.begin() + rank, node);
    counts.push_back(choose_threads(shares_of_node(world, shares, node), static_cast<size_t>(before)));
  }
  const auto by_count = [](const ThreadCount& a, const ThreadCount& b) { return a.count < b.count; };
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end(), by_count);
  ThreadCount agreed = *least;
  if (least->count != most->count) agreed.reason += ", of " + world.name_of(static_cast<int>(least - counts.begin()));
  return agreed;
}

ComputeSettings prepare_compute(const RunOptions& options, const World& world, const GatherTexts& gather) {
  Offer mine;
  all_or_none(world, gather, [&] {
    check_device(options);
    mine = {own_cpu_share(), offered_instruction_set(), variable(kOpenMpVariable)};
  });
  const std::string asked = options.threads ? std::to_string(*options.threads) : "auto";
  require_equal_facts(world, gather,
                      {{"threads", asked},
                       {"the environment variable BERTFT_PRODUCTS", variable("BERTFT_PRODUCTS")},
                       {"the environment variable MKL_CBWR", variable("MKL_CBWR")}});
  std::vector<Offer> offers;
  for (const std::string& text : gather(packed(mine))) offers.push_back(unpacked(text));
  const ThreadCount agreed = agreed_threads(world, shares_of(offers));
  ComputeSettings compute;
  compute.threads = options.threads ? static_cast<int>(*options.threads) : agreed.count;
  compute.threads_reason = options.threads ? "config" : agreed.reason;
  if (world.rank == 0 && !options.threads) {
    warn_of_binding(world, shares_of(offers));
    warn_of_openmp_variable(world, offers, compute.threads);
  }
  compute.kernels_reason = agree_on_kernels(world, offers);
  all_or_none(world, gather, [] { ops::product_library(); });  // an unknown name in BERTFT_PRODUCTS
  agree_on_products(gather);
  compute.cpu = ops::prepare_cpu(compute.threads);
  ops::set_product_inputs(options.precision == "bf16" ? ops::ProductInputs::kBf16 : ops::ProductInputs::kFull);
  if (options.precision == "bf16") {
    log::warn(
        "precision: bf16: this build rounds the inputs of matrix products to bf16 and multiplies them in fp32: the "
        "results of bf16 units, but slower than precision: fp32");
  }
  return compute;
}

ComputeSettings prepare_compute(const RunOptions& options) {
  return prepare_compute(options, single_world(),
                         [](const std::string& mine) { return std::vector<std::string>{mine}; });
}

}  // namespace bertft
