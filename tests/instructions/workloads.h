// Pieces of work whose instructions are counted under callgrind and compared with kept counts, so that no change makes
// them much slower unnoticed. They need no LibTorch, whose start alone takes a minute under valgrind.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bertft {

struct Workload {
  std::string name;
  // Makes the data; what it returns does the work and is what is counted. The same work on every machine.
  std::function<std::function<void()>()> prepare;
};

std::vector<Workload> tokenizer_workloads();
std::vector<Workload> attention_workloads();
std::vector<Workload> fused_op_workloads();
std::vector<Workload> optimizer_workloads();

}  // namespace bertft
