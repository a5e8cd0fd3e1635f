// What may happen next in a model of ranks, as one number that an Explorer keeps for each state.
#pragma once

#include <string>

namespace bertft::test {

enum ActionKind { kBegin, kMark, kRaise, kEnd, kDeliver, kPoll, kLook, kDie, kContribute, kReturn };

// Operands are below 256.
struct ModelAction {
  ActionKind kind = kBegin;
  int first = 0;
  int second = 0;
  int third = 0;
};

int action_of(ActionKind kind, int first, int second = 0, int third = 0);
ModelAction parts_of(int action);

// "rank 1 has unit 0 ready", for the way to a broken promise.
std::string name_of_action(int action);

}  // namespace bertft::test
