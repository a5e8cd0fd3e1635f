#include "checkpoint/pickle_stack.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"

namespace bertft {

void PickleStack::fail(const std::string& what) const {
  throw CheckpointError(
      fmt::format("{}: at byte {} of the pickle: {}. Nothing of it was executed. The file is damaged or holds more "
                  "than weights: save it again as safetensors, or with torch.save(model.state_dict(), ...)",
                  where_, begin_, what));
}

void PickleStack::refuse_global(std::string_view name) const {
  throw CheckpointError(
      fmt::format("{}: at byte {} of the pickle: global {} is not allowed: a program that loads this file as Python "
                  "does could be made to run code by it. Nothing of it was executed. Only tensors in dictionaries "
                  "are read: take the weights as safetensors, or save them with torch.save(model.state_dict(), ...)",
                  where_, begin_, excerpt(name, 120)));
}

unsigned char PickleStack::next_operation() {
  begin_ = at_;
  return static_cast<unsigned char>(take(1)[0]);
}

std::string_view PickleStack::take(uint64_t count) {
  if (count > bytes_.size() - at_) {
    if (bytes_.size() >= kMaxPickleBytes) fail("it is longer than that of any file of weights");
    throw CheckpointError(fmt::format(
        "{}: the pickle ends within the operation at byte {}. The file is incomplete or damaged: copy or download it "
        "again",
        where_, begin_));
  }
  const std::string_view taken = bytes_.substr(at_, static_cast<size_t>(count));
  at_ += static_cast<size_t>(count);
  return taken;
}

uint64_t PickleStack::take_number(size_t width) {
  const std::string_view taken = take(width);
  uint64_t number = 0;
  for (size_t i = width; i-- > 0;) number = number << 8 | static_cast<unsigned char>(taken[i]);
  return number;
}

std::string_view PickleStack::take_line() {
  const size_t end = bytes_.find('\n', at_);
  const std::string_view line = take((end == std::string_view::npos ? bytes_.size() + 1 : end + 1) - at_);
  return line.substr(0, line.size() - 1);
}

void PickleStack::count_items(size_t more) {
  items_ += more;
  if (items_ > kMaxPickleItems) fail("more entries in lists and dictionaries than any file of weights has");
}

void PickleStack::push(PickleValue value) {
  count_items(value.items.size());
  if (program_.values.size() >= kMaxPickleValues) fail("more values than any file of weights has");
  program_.values.push_back(std::move(value));
  stack_.push_back(static_cast<PickleRef>(program_.values.size() - 1));
}

void PickleStack::push_again(PickleRef ref) { stack_.push_back(ref); }

PickleRef PickleStack::pop() {
  const PickleRef value = top();
  stack_.pop_back();
  return value;
}

PickleRef PickleStack::top() const {
  if (above_mark() == 0) fail("a value is needed where there is none");
  return stack_.back();
}

std::vector<PickleRef> PickleStack::pop_count(size_t count) {
  std::vector<PickleRef> items(count);
  while (count > 0) items[--count] = pop();
  return items;
}

void PickleStack::push_mark() {
  if (marks_.size() == kMaxPickleDepth) fail("values nested deeper than in any file of weights");
  marks_.push_back(stack_.size());
}

std::vector<PickleRef> PickleStack::pop_to_mark() {
  if (marks_.empty()) fail("a MARK is needed where there is none");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleRef> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleStack::append(PickleKind kind, const std::vector<PickleRef>& items) {
  PickleValue& value = program_.values[top()];
  if (value.kind != kind) {
    fail(fmt::format("{} where {} is needed", pickle_kind_name(value.kind), pickle_kind_name(kind)));
  }
  count_items(items.size());
  value.items.insert(value.items.end(), items.begin(), items.end());
}

void PickleStack::memoize(uint32_t index) {
  memo_[index] = top();
  if (memo_.size() > kMaxPickleValues) fail("more memo entries than any file of weights has");
}

void PickleStack::push_memo(uint32_t index) {
  const auto found = memo_.find(index);
  if (found == memo_.end()) fail(fmt::format("the memo has no entry {}", index));
  stack_.push_back(found->second);
}

PickleProgram PickleStack::finish() {
  if (stack_.size() != 1 || !marks_.empty()) fail("the pickle ends with values left over or none at all");
  program_.root = stack_.back();
  program_.bytes = at_;
  return std::move(program_);
}

std::string_view pickle_kind_name(PickleKind kind) {
  switch (kind) {
    case PickleKind::kNone:
      return "None";
    case PickleKind::kBool:
      return "a truth value";
    case PickleKind::kInteger:
    case PickleKind::kLong:
    case PickleKind::kReal:
      return "a number";
    case PickleKind::kText:
      return "a text";
    case PickleKind::kBytes:
      return "bytes";
    case PickleKind::kTuple:
      return "a tuple";
    case PickleKind::kList:
      return "a list";
    case PickleKind::kDict:
      return "a dictionary";
    case PickleKind::kGlobal:
      return "a class or function";
    case PickleKind::kStorage:
      return "a storage";
    case PickleKind::kTensor:
      return "a tensor";
  }
  return "a value";
}

}  // namespace bertft
