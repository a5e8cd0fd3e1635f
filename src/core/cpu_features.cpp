#include "core/cpu_features.h"

#include <atomic>
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

// What kernels were chosen by; kOpen until something asked for it. Threads ask, too.
constexpr int kOpen = -1;
std::atomic<int> used_level{kOpen};

}  // namespace

InstructionSet offered_instruction_set() {
  static const InstructionSet offered = choose();
  return offered;
}

InstructionSet instruction_set() {
  int level = used_level.load();
  if (level != kOpen) return static_cast<InstructionSet>(level);
  const int offered = static_cast<int>(offered_instruction_set());
  return static_cast<InstructionSet>(used_level.compare_exchange_strong(level, offered) ? offered : level);
}

void lower_instruction_set(InstructionSet level) {
  check(level <= offered_instruction_set(), "only levels that the processor has can be used");
  int before = kOpen;
  const bool is_first = used_level.compare_exchange_strong(before, static_cast<int>(level));
  check(is_first || before == static_cast<int>(level), "the instruction set is chosen before kernels are");
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
