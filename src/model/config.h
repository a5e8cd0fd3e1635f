// The shape of an encoder, as config.json of a published checkpoint states it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bertft {

struct EncoderConfig {
  std::string model_type;  // "bert"
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t intermediate_size = 0;
  int64_t max_positions = 0;
  int64_t token_types = 0;
  double norm_epsilon = 1e-12;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  std::optional<double> classifier_dropout;  // none: as dropout
  double initializer_range = 0.02;
  std::string source_text;  // the whole file, so that what we do not read is kept when a model is written

  double effective_classifier_dropout() const { return classifier_dropout.value_or(dropout); }
};

// Reads and checks `path`. Throws CheckpointError naming path and key: not JSON, a missing or wrong value, a model_type
// that is not in the table of families, or a variant of the architecture that this build does not compute.
EncoderConfig read_encoder_config(const std::string& path);

}  // namespace bertft
