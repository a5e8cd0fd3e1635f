// Matches the tensors of a file with those that a model wants, by published name and shape, and says what is loaded,
// what starts new and what is ignored. Nothing is copied here, and no model is known: names and rules come as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/tensor_file.h"

namespace bertft {

// A parameter of the model under its published name without the family's prefix, for example
// encoder.layer.0.attention.self.query.weight, pooler.dense.weight, classifier.weight.
struct WantedTensor {
  std::string name;
  std::vector<int64_t> shape;
  bool is_head_side = false;  // pooler and classifier: may be absent or of another size; the encoder may not
};

// How a family writes its names.
struct NameRules {
  std::vector<std::string> prefixes;          // {"bert."}; no prefix is always accepted
  std::vector<std::string> ignored_prefixes;  // {"cls."}: known parts that are not wanted, with or without prefix
  std::vector<std::string> ignored_names;     // {"embeddings.position_ids"}: likewise, whole names
};

struct IgnoredTensor {
  std::string name;  // as in the file
  std::string reason;
};

// A head-side tensor that the file has in another shape, for example of another number of labels.
struct HeadMismatch {
  int wanted = -1;  // index into the wanted tensors
  int source = -1;  // index into file.tensors()
  std::vector<int64_t> file_shape;
};

struct LoadPlan {
  std::string prefix;                    // the one that this file uses, "" for none
  std::vector<int> source;               // for each wanted tensor: index into file.tensors(), -1: starts new
  std::vector<std::string> loaded;       // names as wanted
  std::vector<std::string> created;      // head-side ones that start new, names as wanted
  std::vector<IgnoredTensor> ignored;    // all tensors of the file that are not loaded, by name
  std::vector<HeadMismatch> mismatched;  // among the created ones; an error when the head must be kept
  std::vector<std::string> faults;       // why this file cannot be loaded, one sentence each; empty: it can
  int64_t encoder_tensors = 0;           // wanted ones that are not head-side
  int64_t encoder_found = 0;             // of these: in the file, whatever their shape
  int64_t encoder_matched = 0;           // of these: of the right shape and a floating point type
  int64_t loaded_elements = 0;
  int64_t created_elements = 0;
  double encoder_share = 0;  // part of the encoder's elements that matched, 0 to 1
};

// The rules. One prefix holds for the whole encoder: the one under which most names are found. Head-side tensors are
// looked up with it first, then without any. A module of the head (the name up to its last dot) is loaded whole or
// starts new. LayerNorm.gamma and LayerNorm.beta are read as weight and bias. A learned tensor among the encoder's own
// names that nobody wants (a seventh layer, relative positions) is a fault, since leaving it out would change the
// results without a word; all else that nobody wants is ignored by name. Never throws for a bad file: see `faults`.
LoadPlan match_tensors(const TensorFile& file, const std::vector<WantedTensor>& wanted, const NameRules& rules);

// The same, but one CheckpointError with the first five faults, the count of all and a remedy when there is any.
LoadPlan plan_load(const TensorFile& file, const std::vector<WantedTensor>& wanted, const NameRules& rules);

// A weight that training could not start from.
struct NonFiniteWeight {
  std::string tensor;  // as in the file
  int64_t index = 0;   // row-major
};

// The first NaN or infinity among the tensors that `plan` loads, in the order of the wanted ones.
std::optional<NonFiniteWeight> first_non_finite(const TensorFile& file, const LoadPlan& plan);

// CheckpointError that names tensor and element when there is such a weight.
void require_finite(const TensorFile& file, const LoadPlan& plan);

}  // namespace bertft
