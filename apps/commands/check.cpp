// check: every fault of a run's configuration, checkpoint, data, labels and output in one list.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "commands/command.h"
#include "commands/command_ranks.h"
#include "config/environment.h"
#include "config/yaml.h"
#include "core/error.h"
#include "core/log.h"
#include "train/check_ranks.h"
#include "train/check_run.h"

namespace bertft {
namespace {

using Json = nlohmann::ordered_json;

class CheckCommand final : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string summary() const override { return "find every fault of a run before it starts; writes nothing"; }
  bool runs_on_several_ranks() const override { return true; }

  void declare(CLI::App& app) override {
    app.add_option("--config", config_path_, "the YAML file of the run");
    app.add_option("--set", overrides_, "section.key=value, as for train; may be repeated")->allow_extra_args(false);
    app.add_flag("--json", is_json_, "answer as one JSON object");
  }

  int run() override {
    CommandRanks ranks;
    log::start({.rank = ranks.world().rank, .is_quiet = true});
    return ranks.run([&] { return run_together(ranks); });
  }

 private:
  int run_together(CommandRanks& ranks) {
    ranks.together([&] { require_argument(name(), config_path_, "--config FILE"); });
    std::optional<RunConfig> config;
    CheckStart start{.world = ranks.world().size};
    RankCheck mine;
    try {
      config = load_run_config(config_path_, start.config_faults);
      mine.report.warnings = adopt_environment(*config, start.config_faults);
      override_keys(*config, start.config_faults);
    } catch (const ConfigError& failure) {  // the file cannot be read at all
      mine.report.faults.push_back({"configuration", failure.code(), failure.what()});
      mine.report.not_checked.push_back("everything else: the configuration cannot be read");
    }
    mine.share = own_cpu_share();
    const std::vector<std::string> loaded = ranks.gather()(config ? "yes" : "");
    const bool can_agree = std::count(loaded.begin(), loaded.end(), "") == 0;
    if (can_agree) agree(ranks, *config, start, mine.report);
    in_turn(ranks, [&] {
      if (config) add(check_run(*config, start), mine.report);
    });
    mine.node = config ? node_facts(*config, ranks.world()) : Facts{};
    const JobCheck job = merge_checks(ranks.world(), ranks.gather(), mine);
    if (ranks.world().rank == 0) is_json_ ? print_json(job) : print_text(job);
    return static_cast<int>(job.report.exit_code());
  }

  // Collective: what all ranks would compute with. A fault is the same on all of them.
  static void agree(CommandRanks& ranks, const RunConfig& config, CheckStart& start, CheckReport& report) {
    try {
      start.compute = prepare_compute(config.run, ranks.world(), ranks.gather());
    } catch (const SharedError& failure) {
      report.faults.push_back(
          {failure.code() == ExitCode::kComm ? "ranks" : "configuration", failure.code(), failure.what()});
    }
  }

  // The first rank of each node before the others, which then find its data in the cache of the node.
  static void in_turn(CommandRanks& ranks, const std::function<void()>& work) {
    if (ranks.world().local_rank == 0) work();
    ranks.bootstrap().barrier();
    if (ranks.world().local_rank != 0) work();
  }

  // What was found before comes first.
  static void add(CheckReport found, CheckReport& report) {
    const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(report.faults, found.faults);
    append(report.warnings, found.warnings);
    append(report.not_checked, found.not_checked);
    report.facts = std::move(found.facts);
    report.job = std::move(found.job);
  }

  void override_keys(RunConfig& config, std::vector<std::string>& faults) const {
    for (const std::string& assignment : overrides_) {
      try {
        apply_override(config, assignment, "--set");
      } catch (const ConfigError& failure) {
        faults.push_back(failure.what());
      }
    }
  }

  void print_text(const JobCheck& job) const {
    const CheckReport& report = job.report;
    if (job.nodes.front().ranks.size() > 1 || job.nodes.size() > 1) print_nodes(job.nodes);
    for (const Fact& fact : report.facts) std::cout << fact.value;
    for (const std::string& warning : report.warnings) std::cout << "warning: " << warning << "\n";
    for (const std::string& skipped : report.not_checked) std::cout << "not checked: " << skipped << "\n";
    for (size_t i = 0; i < report.faults.size(); ++i) {
      const CheckFault& fault = report.faults[i];
      std::cout << fmt::format("fault {} of {} ({}): {}\n", i + 1, report.faults.size(), fault.subject, fault.message);
    }
    std::cout << config_path_ << (report.faults.empty() ? ": no faults found\n" : ": faults found\n");
  }

  static void print_nodes(const std::vector<NodeReport>& nodes) {
    for (const NodeReport& node : nodes) {
      std::cout << fmt::format("{}: rank{} {}\n", node.host, node.ranks.size() > 1 ? "s" : "", ranges_text(node.ranks));
      for (const Fact& fact : node.facts) std::cout << fmt::format("  {:<18}{}\n", fact.name, fact.value);
    }
  }

  static Json json_of(const Facts& facts) {
    Json json = Json::array();
    for (const Fact& fact : facts) json.push_back({{"name", fact.name}, {"value", fact.value}});
    return json;
  }

  void print_json(const JobCheck& job) const {
    const CheckReport& report = job.report;
    Json json = {{"config", config_path_}, {"exit_code", static_cast<int>(report.exit_code())}};
    json["faults"] = Json::array();
    for (const CheckFault& fault : report.faults) {
      json["faults"].push_back(
          {{"subject", fault.subject}, {"exit_code", static_cast<int>(fault.code)}, {"message", fault.message}});
    }
    json["warnings"] = report.warnings;
    json["not_checked"] = report.not_checked;
    json["facts"] = json_of(report.facts);
    json["nodes"] = Json::array();
    for (const NodeReport& node : job.nodes) {
      json["nodes"].push_back({{"host", node.host}, {"ranks", node.ranks}, {"facts", json_of(node.facts)}});
    }
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  }

  std::string config_path_;
  std::vector<std::string> overrides_;
  bool is_json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace bertft
