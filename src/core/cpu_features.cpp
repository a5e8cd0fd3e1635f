#include "core/cpu_features.h"

#include <cstdlib>

#include "core/error.h"

namespace bertft {
namespace {

InstructionSet detect() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return InstructionSet::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::kAvx2;
  return InstructionSet::kScalar;
}

InstructionSet choose() {
  const InstructionSet best = detect();
  const char* wanted = std::getenv("BERTFT_INSTRUCTION_SET");
  if (wanted == nullptr || *wanted == '\0') return best;
  for (const InstructionSet level : {InstructionSet::kScalar, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (wanted != instruction_set_name(level)) continue;
    if (level > best) {
      throw ConfigError(std::string("BERTFT_INSTRUCTION_SET=") + wanted + ": this processor offers at most " +
                        instruction_set_name(best));
    }
    return level;
  }
  throw ConfigError(std::string("BERTFT_INSTRUCTION_SET=") + wanted + ": known are scalar, avx2, avx512");
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet chosen = choose();
  return chosen;
}

std::string instruction_set_name(InstructionSet level) {
  switch (level) {
    case InstructionSet::kAvx512:
      return "avx512";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kScalar:
      break;
  }
  return "scalar";
}

}  // namespace bertft
