// check: every fault of a run's configuration, checkpoint, data, labels and output in one list.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands/command.h"
#include "config/environment.h"
#include "config/yaml.h"
#include "core/error.h"
#include "core/log.h"
#include "train/check_run.h"

namespace bertft {
namespace {

using Json = nlohmann::ordered_json;

class CheckCommand final : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string summary() const override { return "find every fault of a run before it starts; writes nothing"; }

  void declare(CLI::App& app) override {
    app.add_option("--config", config_path_, "the YAML file of the run");
    app.add_option("--set", overrides_, "section.key=value, as for train; may be repeated")->allow_extra_args(false);
    app.add_flag("--json", is_json_, "answer as one JSON object");
  }

  int run() override {
    require_argument(name(), config_path_, "--config FILE");
    log::start({.is_quiet = true});
    std::vector<std::string> config_faults;
    CheckReport report;
    try {
      RunConfig config = load_run_config(config_path_, config_faults);
      const std::vector<std::string> notes = adopt_environment(config, config_faults);
      override_keys(config, config_faults);
      report = check_run(std::move(config), config_faults);
      report.warnings.insert(report.warnings.begin(), notes.begin(), notes.end());
    } catch (const ConfigError& failure) {  // the file cannot be read at all
      report.faults.push_back({"configuration", failure.code(), failure.what()});
      report.not_checked.push_back("everything else: the configuration cannot be read");
    }
    is_json_ ? print_json(report) : print_text(report);
    return static_cast<int>(report.exit_code());
  }

 private:
  void override_keys(RunConfig& config, std::vector<std::string>& faults) const {
    for (const std::string& assignment : overrides_) {
      try {
        apply_override(config, assignment, "--set");
      } catch (const ConfigError& failure) {
        faults.push_back(failure.what());
      }
    }
  }

  void print_text(const CheckReport& report) const {
    std::cout << report.facts;
    for (const std::string& warning : report.warnings) std::cout << "warning: " << warning << "\n";
    for (const std::string& skipped : report.not_checked) std::cout << "not checked: " << skipped << "\n";
    for (size_t i = 0; i < report.faults.size(); ++i) {
      const CheckFault& fault = report.faults[i];
      std::cout << fmt::format("fault {} of {} ({}): {}\n", i + 1, report.faults.size(), fault.subject, fault.message);
    }
    std::cout << config_path_ << (report.faults.empty() ? ": no faults found\n" : ": faults found\n");
  }

  void print_json(const CheckReport& report) const {
    Json json = {{"config", config_path_}, {"exit_code", static_cast<int>(report.exit_code())}};
    json["faults"] = Json::array();
    for (const CheckFault& fault : report.faults) {
      json["faults"].push_back(
          {{"subject", fault.subject}, {"exit_code", static_cast<int>(fault.code)}, {"message", fault.message}});
    }
    json["warnings"] = report.warnings;
    json["not_checked"] = report.not_checked;
    json["facts"] = report.facts;
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  }

  std::string config_path_;
  std::vector<std::string> overrides_;
  bool is_json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace bertft
