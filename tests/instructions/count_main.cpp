// Does one piece of work on one thread with the kernels for AVX2, the highest level that valgrind knows.
// scripts/instruction_counts.py runs it under callgrind. Usage: instruction_work NAME (without it: prints the names).
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "core/cpu_features.h"
#include "ops/kernels/cpu_kernels.h"
#include "tests/instructions/workloads.h"

// callgrind counts between entry and return of this function, which it finds by its name.
extern "C" __attribute__((noipa)) void counted_work(const std::function<void()>& work);
extern "C" void counted_work(const std::function<void()>& work) { work(); }

namespace bertft {
namespace {

std::vector<Workload> all_workloads() {
  std::vector<Workload> all;
  for (const auto& group :
       {tokenizer_workloads(), attention_workloads(), fused_op_workloads(), optimizer_workloads()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

int run(const std::string& name) {
  if (offered_instruction_set() < InstructionSet::kAvx2) {
    std::puts("SKIPPED: this processor has no AVX2");
    return 0;
  }
  ops::use_kernel_level(InstructionSet::kAvx2);
  for (const Workload& workload : all_workloads()) {
    if (workload.name != name) continue;
    counted_work(workload.prepare());
    return 0;
  }
  std::fprintf(stderr, "instruction_work: no workload '%s' (without argument: prints the names)\n", name.c_str());
  return 2;
}

}  // namespace
}  // namespace bertft

int main(int argc, char** argv) {
  try {
    if (argc == 2) return bertft::run(argv[1]);
    for (const bertft::Workload& workload : bertft::all_workloads()) std::puts(workload.name.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "instruction_work: %s\n", error.what());
    return 1;
  }
  return 0;
}
