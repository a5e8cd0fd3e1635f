#include "train/trace.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/hash.h"

namespace bertft {
namespace {

// The lines of an earlier part of the run, up to the first that is not one of a step before `first_step`.
std::string earlier_lines(const std::string& path, int64_t first_step) {
  std::string kept;
  std::ifstream file(path);
  for (std::string line; first_step > 1 && std::getline(file, line) && !file.eof();) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("step", first_step) >= first_step) break;
    kept += line + "\n";
  }
  return kept;
}

// JSON has no word for what is no number but null.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null"; }

}  // namespace

Trace::Trace(const std::string& path, int64_t first_step) : path_(path) {
  const std::string kept = earlier_lines(path, first_step);
  file_.open(path, std::ios::trunc);
  file_ << kept << std::flush;
  if (!file_) throw ResourceError("--trace: cannot open " + path + ". Check the folder and its permissions");
}

void Trace::add(const StepResult& result, int rank, const ParameterStore& store) {
  file_ << fmt::format(
               "{{\"step\":{},\"rank\":{},\"rows\":[{}],\"loss\":{},\"lr\":{:.9g},\"grad_norm\":{},"
               "\"parameter_hash\":\"{}\"}}\n",
               result.batch.step, rank, fmt::join(result.rows, ","), number(result.loss), result.lr,
               number(result.grad_norm), hash_text(parameter_hash(store)))
        << std::flush;
  if (!file_) throw ResourceError("--trace: cannot write " + path_);
}

std::string trace_path(const std::string& path, const World& world) {
  return world.size == 1 ? path : fmt::format("{}.{:04}", path, world.rank);
}

uint64_t parameter_hash(const ParameterStore& store) {
  const at::Tensor weights = store.weights().cpu();
  return hash64(weights.const_data_ptr(), weights.nbytes(), 0);
}

}  // namespace bertft
