#include "train/train_state.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace bertft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

// The shortest text that gives the same number again; also for what JSON has no number for.
std::string exact(double value) { return fmt::format("{}", value); }

double parse_exact(const std::string& text) {
  double value = 0.0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) throw CheckpointError("'" + text + "' is no number");
  return value;
}

Json numbers(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(exact(value));
  return json;
}

}  // namespace

std::string train_state_text(const TrainState& state) {
  Json json;
  json["format"] = kFormat;
  json["step"] = state.step;
  json["applied_steps"] = state.applied_steps;
  json["is_evaluation_pending"] = state.is_evaluation_pending;
  json["is_stopped_early"] = state.is_stopped_early;
  json["dropped_in_a_row"] = state.dropped_in_a_row;
  json["best"] = {{"step", state.best.step}, {"metrics", Json::array()}};
  for (const auto& [name, value] : state.best.metrics) json["best"]["metrics"].push_back({name, exact(value)});
  json["last_model_step"] = state.last_model_step;
  json["evaluations_without_gain"] = state.evaluations_without_gain;
  json["early_stopping_best"] = exact(state.early_stopping_best);
  json["loss_window"] = numbers(state.loss_window);
  json["rows_done"] = state.rows_done;
  json["tokens_done"] = state.tokens_done;
  json["train_s"] = exact(state.train_s);
  json["evaluate_s"] = exact(state.evaluate_s);
  json["first_step_s"] = exact(state.first_step_s);
  json["layout_hash"] = state.layout_hash;
  json["metrics_bytes"] = state.logs.metrics_bytes;
  json["events_file"] = state.logs.events_file;
  json["events_bytes"] = state.logs.events_bytes;
  json["config"] = state.config;
  json["resolved"] = state.resolved;
  json["data_hashes"] = state.data_hashes;
  return json.dump(2) + "\n";
}

TrainState parse_train_state(const std::string& text, const std::string& path) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kFormat) {
      throw CheckpointError(fmt::format("format {} is not that of this build, {}", json.at("format").dump(), kFormat));
    }
    TrainState state;
    const auto read = [&json](const char* key, auto& target) { json.at(key).get_to(target); };
    const auto read_exact = [&json](const char* key, double& target) {
      target = parse_exact(json.at(key).get<std::string>());
    };
    read("step", state.step);
    read("applied_steps", state.applied_steps);
    read("is_evaluation_pending", state.is_evaluation_pending);
    read("is_stopped_early", state.is_stopped_early);
    state.dropped_in_a_row = json.value("dropped_in_a_row", int64_t{0});  // older states have none
    json.at("best").at("step").get_to(state.best.step);
    for (const Json& metric : json.at("best").at("metrics")) {
      state.best.metrics.emplace_back(metric.at(0).get<std::string>(), parse_exact(metric.at(1).get<std::string>()));
    }
    read("last_model_step", state.last_model_step);
    read("evaluations_without_gain", state.evaluations_without_gain);
    read_exact("early_stopping_best", state.early_stopping_best);
    for (const Json& loss : json.at("loss_window")) state.loss_window.push_back(parse_exact(loss.get<std::string>()));
    read("rows_done", state.rows_done);
    read("tokens_done", state.tokens_done);
    read_exact("train_s", state.train_s);
    read_exact("evaluate_s", state.evaluate_s);
    read_exact("first_step_s", state.first_step_s);
    read("layout_hash", state.layout_hash);
    read("metrics_bytes", state.logs.metrics_bytes);
    read("events_file", state.logs.events_file);
    read("events_bytes", state.logs.events_bytes);
    read("config", state.config);
    read("resolved", state.resolved);
    read("data_hashes", state.data_hashes);
    return state;
  } catch (const nlohmann::json::exception& failure) {
    throw CheckpointError(fmt::format("{}: not a training state: {}", path, failure.what()));
  } catch (const CheckpointError& failure) {
    throw CheckpointError(path + ": " + failure.what());
  }
}

}  // namespace bertft
