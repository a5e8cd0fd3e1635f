#include "train/metrics_log.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"

namespace bertft {

using Json = nlohmann::ordered_json;

MetricsLog::MetricsLog(const std::string& path, int64_t kept_bytes) : path_(path) {
  cut_file(path, kept_bytes);
  file_.open(path, std::ios::app);
  write("");
}

void MetricsLog::add(const StepLine& line) {
  const Json json = {{"step", line.step},
                     {"epoch", line.epoch},
                     {"loss", line.loss},
                     {"loss_window", line.loss_window},
                     {"lr", line.lr},
                     {"grad_norm", line.grad_norm},
                     {"samples_per_s", line.samples_per_s},
                     {"tokens_per_s", line.tokens_per_s},
                     {"comm_exposed_s", line.comm_exposed_s},
                     {"comm_total_s", line.comm_total_s}};
  write(json.dump() + "\n");
}

void MetricsLog::add(int64_t step, double epoch, const std::string& split, const Evaluation& evaluation) {
  Json json = {{"step", step}, {"epoch", epoch}, {"split", split}, {"metrics", Json::object()}};
  for (const auto& [name, value] : evaluation.metrics) json["metrics"][name] = value;
  write(json.dump() + "\n");
}

int64_t MetricsLog::sync() {
  sync_file(path_);
  return static_cast<int64_t>(std::filesystem::file_size(path_));
}

void MetricsLog::write(const std::string& line) {
  file_ << line << std::flush;
  if (!file_) throw ResourceError("cannot write " + path_ + ". Check free space and permissions");
}

}  // namespace bertft
