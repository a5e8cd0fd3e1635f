// comm-bench: measures how the gradients of a model, or buffers of given sizes, are summed over the ranks of a job, by
// the communicator that training uses, and verifies every sum.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "bench/bench_report.h"
#include "bench/byte_size.h"
#include "commands/command.h"
#include "commands/command_ranks.h"
#include "config/yaml.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/text.h"
#include "train/ranks.h"

namespace bertft {
namespace {

constexpr const char* kDefaultSizes = "1K,64K,1M,16M,64M";

class CommBenchCommand final : public Command {
 public:
  std::string name() const override { return "comm-bench"; }
  std::string summary() const override { return "measure the exchange of gradients, under mpirun"; }
  bool runs_on_several_ranks() const override { return true; }

  void declare(CLI::App& app) override {
    app.add_option("--sizes", sizes_,
                   fmt::format("buffers: bytes, or K, M, G (powers of 1,024), KB, MB, GB; divided by commas ({} when "
                               "there are no --shapes)",
                               kDefaultSizes));
    app.add_option(
        "--shapes", shapes_,
        "gradients of models: bert-base, bert-small, minilm, or a file with NAME and SHAPE (768x3072) a line "
        "in the order of backward; divided by commas");
    app.add_option("--compute-ms", compute_ms_, "the units become ready one after the other over this time")
        ->capture_default_str();
    app.add_option("--compute", compute_, "what the compute thread does meanwhile: busy or sleep")
        ->capture_default_str();
    app.add_option("--modes", modes_, "divided by commas: " + join(bench_mode_names(), ", "))->capture_default_str();
    app.add_option("--wire", wire_,
                   "number format between nodes, for all modes alike: fp32, fp16, bf16, or mixed (aiacc)")
        ->capture_default_str();
    app.add_option("--lanes", lanes_, "comm.lanes");
    app.add_option("--hierarchical", hierarchical_, "true or false, for all modes alike; auto: each mode's own default")
        ->capture_default_str();
    app.add_option("--transport", transport_, "comm.transport")->capture_default_str();
    app.add_option("--set", overrides_, "comm.KEY=VALUE, for all modes alike; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--unit-mb", unit_mb_,
                   "comm.unit_mb: size of the units that the modes aiacc-* cut gradients into, MiB; horovod-*: each "
                   "tensor is one")
        ->capture_default_str();
    app.add_option("--repeats", settings_.repeats, "times that every mode is opened and measured, all modes in turn")
        ->capture_default_str();
    app.add_option("--steps", settings_.steps, "measured steps of each time")->capture_default_str();
    app.add_option("--json", json_path_, "write all figures of all ranks to this file, or - for standard output");
    app.add_option("--simulate", simulate_, "not in this build");
  }

  int run() override {
    CommandRanks ranks;
    log::start({.rank = ranks.world().rank});
    return ranks.run([&] {
      run_together(ranks.world(), ranks.bootstrap());
      return static_cast<int>(ExitCode::kDone);
    });
  }

 private:
  void run_together(const World& world, Bootstrap& bootstrap) {
    const GatherTexts gather = [&](const std::string& mine) { return bootstrap.all_gather(mine); };
    std::vector<BenchMode> modes;
    std::vector<BenchResult> results;
    all_or_none(world, gather, [&] {
      refuse_what_cannot_be(world);
      modes = bench_modes(words_of(modes_), base_options());
      for (Payload& payload : payloads()) results.push_back({std::move(payload), {}});
    });
    require_equal_facts(world, gather, facts_of(results));
    say(world, bench_headline(world, settings_));
    for (BenchResult& result : results) {
      result.modes = run_bench(result.payload, modes, settings_, world, bootstrap,
                               [&](const BenchMode& mode, const Layout& layout, const GradientBuffer& gradients) {
                                 return open_exchange(mode, layout, gradients, world, bootstrap);
                               });
      say(world, bench_table(result.payload, result.modes, world, settings_));
    }
    all_or_none(world, gather, [&] {
      if (world.rank == 0) write_json(bench_json(results, world, settings_));
    });
  }

  // The table, for which standard output is not free when the JSON goes there.
  void say(const World& world, const std::string& text) const {
    if (world.rank == 0) (json_path_ == "-" ? std::cerr : std::cout) << text << std::flush;
  }

  void write_json(const std::string& text) const {
    if (json_path_ == "-") {
      std::cout << text;
    } else if (!json_path_.empty()) {
      write_file_atomically(json_path_, text);
    }
  }

  void refuse_what_cannot_be(const World& world) {
    if (!simulate_.empty()) {
      throw ConfigError("--simulate: not in this build; start as many processes as are wanted with mpirun");
    }
    if (world.size == 1) {
      throw ConfigError(
          "comm-bench: one process exchanges nothing. Start several, for example: mpirun -np 2 bert_finetune "
          "comm-bench");
    }
    if (json_path_ != "-") require_output_place(json_path_, "--json");
    if (compute_ != "busy" && compute_ != "sleep") {
      throw ConfigError("--compute: '" + compute_ + "' is neither busy nor sleep");
    }
    if (compute_ms_ < 0.0 || compute_ms_ > 1e6) throw ConfigError("--compute-ms: a number from 0 to 1000000");
    if (settings_.repeats < 1 || settings_.steps < 1) throw ConfigError("--repeats and --steps: numbers from 1");
    settings_.compute_s = compute_ms_ * 1e-3;
    settings_.compute = compute_ == "busy" ? ComputeKind::kBusy : ComputeKind::kSleep;
  }

  // Read by the rules of a training configuration, so that names, ranges and messages are the same.
  CommOptions base_options() const {
    RunConfig config;
    const auto set = [&](const std::string& key, const std::string& value, const std::string& option) {
      apply_override(config, "comm." + key + "=" + value, option);
    };
    set("wire", wire_, "--wire");
    set("hierarchical", hierarchical_, "--hierarchical");
    set("transport", transport_, "--transport");
    set("unit_mb", unit_mb_, "--unit-mb");
    if (!lanes_.empty()) set("lanes", lanes_, "--lanes");
    for (const std::string& assignment : overrides_) {
      if (!assignment.starts_with("comm.")) {
        throw ConfigError("--set: '" + assignment + "': comm-bench has the keys of section comm alone");
      }
      if (assignment.starts_with("comm.timeline=")) {
        throw ConfigError(
            "--set: comm.timeline: every mode would replace the file of the one before; use it with train");
      }
      for (const char* key : {"comm.mode=", "comm.negotiate="}) {
        if (assignment.starts_with(key)) throw ConfigError("--set: '" + assignment + "': name modes by --modes");
      }
      apply_override(config, assignment, "--set");
    }
    return config.comm;
  }

  std::vector<Payload> payloads() const {
    std::vector<Payload> all;
    if (!sizes_.empty() || shapes_.empty()) {
      for (const int64_t bytes : parse_byte_sizes(sizes_.empty() ? kDefaultSizes : sizes_, "--sizes")) {
        all.push_back(flat_payload(bytes));
      }
    }
    for (const std::string& shape : words_of(shapes_)) all.push_back(model_payload(shape));
    return all;
  }

  // What ranks that were started with different arguments would differ in.
  Facts facts_of(const std::vector<BenchResult>& results) const {
    Facts facts = {{"--modes", modes_},
                   {"--repeats", std::to_string(settings_.repeats)},
                   {"--steps", std::to_string(settings_.steps)},
                   {"--wire, --lanes, --hierarchical, --transport, --unit-mb",
                    join({wire_, lanes_, hierarchical_, transport_, unit_mb_}, " ")},
                   {"--set", join(overrides_, " ")},
                   {"the number of payloads", std::to_string(results.size())}};
    for (const BenchResult& result : results) {
      const Layout layout = make_layout(result.payload.tensors, kUnitPerParameter);
      facts.push_back({"the layout of a payload", fmt::format("{:016x}", layout.parameters_hash())});
    }
    return facts;
  }

  static std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    for (size_t at = 0; at < list.size();) {
      const size_t comma = std::min(list.find(',', at), list.size());
      words.push_back(list.substr(at, comma - at));
      at = comma + 1;
    }
    return words;
  }

  std::string sizes_, shapes_;
  std::string modes_ = join(bench_mode_names(), ",");
  std::string compute_ = "busy";
  double compute_ms_ = 0.0;
  std::string wire_ = "fp32";
  std::string lanes_;
  std::string hierarchical_ = "auto";
  std::string transport_ = "auto";
  std::vector<std::string> overrides_;
  std::string unit_mb_ = "auto";
  BenchSettings settings_;
  std::string json_path_;
  std::string simulate_;
};

}  // namespace

std::unique_ptr<Command> make_comm_bench_command() { return std::make_unique<CommBenchCommand>(); }

}  // namespace bertft
