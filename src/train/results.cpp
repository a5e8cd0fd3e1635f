#include "train/results.h"

#include <nlohmann/json.hpp>

namespace bertft {
namespace {

using Json = nlohmann::ordered_json;

Json averages(const AveragedScores& scores) {
  return {{"precision", scores.precision}, {"recall", scores.recall}, {"f1", scores.f1}};
}

Json to_json(const Evaluation& evaluation, const std::vector<std::string>& labels) {
  Json json = {{"rows", evaluation.rows}, {"metrics", Json::object()}};
  for (const auto& [name, value] : evaluation.metrics) json["metrics"][name] = value;
  for (const auto& [name, reason] : evaluation.undefined) {
    json["metrics"][name] = nullptr;
    json["undefined"][name] = reason;
  }
  const ClassificationScores& scores = evaluation.classification;
  if (scores.classes.empty()) return json;  // real values
  json["averages"] = {
      {"micro", averages(scores.micro)}, {"macro", averages(scores.macro)}, {"weighted", averages(scores.weighted)}};
  for (size_t id = 0; id < scores.classes.size(); ++id) {
    const ClassScores& c = scores.classes[id];
    json["per_class"].push_back({{"label", labels.at(id)},
                                 {"precision", c.precision},
                                 {"recall", c.recall},
                                 {"f1", c.f1},
                                 {"support", c.support},
                                 {"predicted", c.predicted}});
  }
  for (const ConfusionCell& cell : scores.confusion) {
    json["confusion"].push_back({{"label", labels.at(static_cast<size_t>(cell.truth))},
                                 {"predicted", labels.at(static_cast<size_t>(cell.predicted))},
                                 {"rows", cell.count}});
  }
  return json;
}

}  // namespace

std::string results_json(const RunResults& results) {
  Json json = {{"steps", results.steps}, {"best_step", results.best_step}, {"best_metric", results.metric}};
  if (results.dev) json["dev"] = to_json(*results.dev, results.labels);
  if (results.test) json["test"] = to_json(*results.test, results.labels);
  if (results.last_test) json["test_with_last_model"] = to_json(*results.last_test, results.labels);
  const RunTimings& t = results.timings;
  json["timings"] = {{"first_step_s", t.first_step_s},   {"train_s", t.train_s},
                     {"evaluate_s", t.evaluate_s},       {"total_s", t.total_s},
                     {"samples_per_s", t.samples_per_s}, {"tokens_per_s", t.tokens_per_s}};
  const Counters& comm = results.comm;
  json["comm_share"] = t.train_s > 0.0 ? comm.exposed_s / t.train_s : 0.0;
  json["comm"] = {{"exposed_s", comm.exposed_s}, {"total_s", comm.total_s}, {"messages", comm.messages},
                  {"bytes", comm.bytes},         {"rounds", comm.rounds},   {"copied_bytes", comm.copies}};
  return json.dump(2) + "\n";
}

std::string evaluation_json(const Evaluation& evaluation, const std::vector<std::string>& labels) {
  return to_json(evaluation, labels).dump(2) + "\n";
}

}  // namespace bertft
