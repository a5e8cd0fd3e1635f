#include "tests/unit/tasks/toy_task.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>

namespace bertft::test {
namespace {

constexpr int32_t kNoTag = -1;

bool is_word(int32_t id, const Tokenizer& tokenizer) { return id != tokenizer.cls_id() && id != tokenizer.sep_id(); }

bool contains(const Encoding& encoding, int32_t id) {
  return std::find(encoding.ids.begin(), encoding.ids.end(), id) != encoding.ids.end();
}

// Appends the targets and features of one of two parts.
void append_part(const Encoding& part, const Encoding& other, const Tokenizer& tokenizer, EncodedRow& out) {
  for (size_t t = 0; t < part.ids.size(); ++t) {
    const int32_t id = part.ids[t];
    const bool is_shared = is_word(id, tokenizer) && contains(other, id);
    const int32_t tag = is_shared ? 1 : (tokenizer.piece(id) == "b" ? 2 : 0);
    out.targets.push_back(is_word(id, tokenizer) ? tag : kNoTag);
    out.features.push_back(static_cast<float>(t) / 10.0f);
    out.features.push_back(is_shared ? 1.0f : 0.0f);
  }
}

int64_t best_tag(std::span<const double> scores) {
  return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

}  // namespace

RowEncoder ToyTask::row_encoder(const Tokenizer& tokenizer, const EncodeOptions& options, TargetUse targets) const {
  return [&tokenizer, options, targets](const Table& table, int64_t row, EncodedRow& out) {
    out.parts.resize(2);
    out.targets.clear();
    out.features.clear();
    tokenizer.encode(table.text(row), options, &out.parts[0]);
    tokenizer.encode(table.text_pair(row), options, &out.parts[1]);
    append_part(out.parts[0], out.parts[1], tokenizer, out);
    append_part(out.parts[1], out.parts[0], tokenizer, out);
    if (targets == TargetUse::kIgnored) out.targets.clear();
  };
}

double ToyTask::weight(const Dataset& dataset, std::span<const int64_t> rows) const {
  int64_t words = 0;
  for (const int64_t row : rows) {
    const std::span<const int32_t> targets = dataset.targets(row);
    words += static_cast<int64_t>(targets.size()) - std::count(targets.begin(), targets.end(), kNoTag);
  }
  return static_cast<double>(words);
}

void ToyTask::append_head_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) const {
  LinearLayer::append_specs("tagger", kTags, config.hidden_size + kFeatureWidth, specs);
}

void ToyTask::build_head(const EncoderConfig&, ParameterStore& store) { tagger_.emplace(store, "tagger"); }

HeadDescription ToyTask::describe_head(const EncoderConfig&) const {
  return {"ToyForTokenClassification", "token_classification", {"other", "shared", "b"}};
}

at::Tensor ToyTask::forward(const at::Tensor& states, const ForwardPass& pass) const {
  const at::Tensor features = at::tensor(pass.features).view({-1, pass.feature_width}).to(states.scalar_type());
  return tagger_->forward(at::cat({states, features}, 1));
}

at::Tensor ToyTask::loss_sum(const at::Tensor& outputs, const Dataset& dataset, std::span<const int64_t> rows) const {
  std::vector<int64_t> targets;
  for (const int64_t row : rows) {
    const std::span<const int32_t> of_row = dataset.targets(row);
    targets.insert(targets.end(), of_row.begin(), of_row.end());
  }
  return at::cross_entropy_loss(outputs, at::tensor(targets, at::kLong), {}, at::Reduction::Sum, kNoTag);
}

void ToyTask::collect(const at::Tensor& outputs, const ForwardPass& pass, RowOutputs& all) const {
  const at::Tensor values = outputs.detach().to(at::kDouble).contiguous();
  const std::span<const double> flat(values.const_data_ptr<double>(), static_cast<size_t>(values.numel()));
  for (size_t s = 0; s < pass.rows.size();) {
    size_t next = s + 1;
    while (next < pass.rows.size() && pass.rows[next] == pass.rows[s]) ++next;
    const auto begin = static_cast<size_t>(pass.sequences.offsets[s] * kTags);
    const auto end = static_cast<size_t>(pass.sequences.offsets[next] * kTags);
    all.set(pass.rows[s], flat.subspan(begin, end - begin));
    s = next;
  }
}

Evaluation ToyTask::evaluate(const RowOutputs& outputs, const Dataset& dataset) const {
  double loss = 0.0;
  int64_t words = 0;
  int64_t right = 0;
  for (int64_t row = 0; row < dataset.rows(); ++row) {
    const std::span<const int32_t> targets = dataset.targets(row);
    for (size_t t = 0; t < targets.size(); ++t) {
      if (targets[t] == kNoTag) continue;
      const std::span<const double> scores = outputs.row(row).subspan(t * kTags, kTags);
      double sum = 0.0;
      for (const double score : scores) sum += std::exp(score);
      loss += std::log(sum) - scores[static_cast<size_t>(targets[t])];
      right += best_tag(scores) == targets[t] ? 1 : 0;
      ++words;
    }
  }
  Evaluation result;
  result.rows = dataset.rows();
  result.metrics = {{"loss", loss / static_cast<double>(words)},
                    {"token_accuracy", static_cast<double>(right) / static_cast<double>(words)}};
  return result;
}

MetricChoice ToyTask::choose_metric(const std::string& wanted) const {
  if (wanted == "auto" || wanted == "token_accuracy") return {"token_accuracy", true};
  throw ConfigError("eval.metric: '" + wanted + "' is not a metric of toy: token_accuracy");
}

std::vector<std::string> ToyTask::prediction_cells(std::span<const double> outputs, const PredictionFormat&) const {
  std::string tags;
  for (size_t at = 0; at < outputs.size(); at += kTags) {
    tags += (tags.empty() ? "" : " ") + std::to_string(best_tag(outputs.subspan(at, kTags)));
  }
  return {tags};
}

}  // namespace bertft::test
