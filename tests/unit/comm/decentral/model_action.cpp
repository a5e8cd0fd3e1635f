#include "tests/unit/comm/decentral/model_action.h"

#include <fmt/format.h>

namespace bertft::test {
namespace {

constexpr int kShift = 8;  // bits of each operand
constexpr int kMask = (1 << kShift) - 1;

}  // namespace

int action_of(ActionKind kind, int first, int second, int third) {
  return ((static_cast<int>(kind) << kShift | first) << kShift | second) << kShift | third;
}

ModelAction parts_of(int action) {
  return {static_cast<ActionKind>(action >> (3 * kShift)), action >> (2 * kShift) & kMask, action >> kShift & kMask,
          action & kMask};
}

std::string name_of_action(int action) {
  const auto [kind, first, second, third] = parts_of(action);
  switch (kind) {
    case kBegin:
      return fmt::format("rank {} begins a step", first);
    case kMark:
      return fmt::format("rank {} has unit {} ready", first, second);
    case kRaise:
      return fmt::format("rank {} raises a flag", first);
    case kEnd:
      return fmt::format("rank {} ends a step", first);
    case kDeliver:
      return fmt::format("node {} reads from node {}", second, first);
    case kPoll:
      return fmt::format("the leader of node {} looks at its board", first);
    case kLook:
      return fmt::format("rank {} looks at the results", first);
    case kDie:
      return fmt::format("node {} dies{}", first, second != 0 ? ", what it sent last is lost" : "");
    case kContribute:
      return fmt::format("rank {} sends its next slice of unit number {}", first, second);
    case kReturn:
      return fmt::format("rank {} gets slice {} of unit number {} back", first, third, second);
  }
  return "";
}

}  // namespace bertft::test
