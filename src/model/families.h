// The families of checkpoints this build knows: one row each, data only. A family is named by `model_type` of
// config.json and says how its published files name things.
#pragma once

#include <string>
#include <vector>

namespace bertft {

struct Family {
  std::string model_type;                     // value in config.json
  std::string prefix;                         // of encoder parameters in files with a head: "bert."
  std::vector<std::string> ignored_prefixes;  // heads of pretraining that fine-tuning does not use
  std::vector<std::string> ignored_names;     // buffers that hold no parameters
  std::string classifier_architecture;        // `architectures` of a written text classifier
  std::string members;                        // published models of this family, for help and messages
};

// nullptr when there is none.
const Family* find_family(const std::string& model_type);

// "bert (BERT, MiniLM, ...)", for messages.
std::string known_families();

}  // namespace bertft
