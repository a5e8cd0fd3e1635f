// Brings the weights of a checkpoint into a model and says what was loaded, what is new and what was ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/load_plan.h"
#include "checkpoint/tensor_file.h"
#include "train/model_bundle.h"

namespace bertft {

// model.head: what becomes of a head that the checkpoint holds.
enum class HeadUse {
  kAuto,  // loaded when it fits, else new
  kKeep,  // must be there and fit
  kNew,   // not looked at
};

HeadUse parse_head_use(const std::string& text);

struct LoadSummary {
  LoadPlan plan;
  uint64_t checksum = 0;
  std::string weights_path;
  std::vector<std::string> notes;  // how the file was read, what lies beside it and was not

  // Several lines for the log: tensors loaded, share of the encoder, new and ignored ones by name.
  std::string report() const;
};

// What the model wants, as the checkpoint folder's matcher takes it; in layout order.
std::vector<WantedTensor> wanted_tensors(const ModelBundle& model);
NameRules name_rules(const EncoderConfig& config);

// kDouble when the file holds its weights in fp64 (written by a run with precision fp64), else kFloat.
at::ScalarType stored_type(const TensorFile& file);

// `path`: a model folder or a file of weights. New parameters are initialized from `seed`. Throws CheckpointError: see
// checkpoint/load_plan.h; also when the head must be kept and does not fit, and for weights that are not finite.
LoadSummary load_weights(ModelBundle& model, const std::string& path, HeadUse head, uint64_t seed);

// The same from a file that is open already.
LoadSummary load_weights(ModelBundle& model, const TensorFile& file, HeadUse head, uint64_t seed);

}  // namespace bertft
