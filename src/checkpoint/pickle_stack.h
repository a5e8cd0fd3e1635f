// The bytes, stack, marks and memo of the pickle machine, with every access checked: the part that knows no operation.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checkpoint/pickle_machine.h"

namespace bertft {

class PickleStack {
 public:
  // `bytes` and `where` must outlive it.
  PickleStack(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  // CheckpointError that names the operation's byte and what is wrong with it.
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void refuse_global(std::string_view name) const;

  // Starts the next operation and returns its code.
  unsigned char next_operation();
  // The operands behind it.
  std::string_view take(uint64_t count);
  uint64_t take_number(size_t width);  // little-endian
  std::string_view take_line();        // without its end
  size_t position() const { return at_; }

  void push(PickleValue value);
  void push_text(PickleKind kind, std::string_view text) { push({kind, 0, text, {}}); }
  void push_number(PickleKind kind, int64_t number) { push({kind, number, {}, {}}); }
  void push_again(PickleRef ref);  // a value that is there already

  PickleRef pop();
  PickleRef top() const;
  std::vector<PickleRef> pop_count(size_t count);  // in order
  void push_mark();
  std::vector<PickleRef> pop_to_mark();  // everything above the last mark, in order; the mark goes, too

  // Adds to the list or dictionary on top.
  void append(PickleKind kind, const std::vector<PickleRef>& items);

  void memoize(uint32_t index);
  void memoize_next() { memoize(static_cast<uint32_t>(memo_.size())); }
  void push_memo(uint32_t index);

  const PickleValue& at(PickleRef ref) const { return program_.at(ref); }
  const PickleValue& item(const PickleValue& value, size_t index) const { return program_.item(value, index); }

  // At STOP: the one value that is left is the root.
  PickleProgram finish();

 private:
  // How many values lie above the last mark; operations must not reach below it.
  size_t above_mark() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  void count_items(size_t more);

  std::string_view bytes_;
  const std::string& where_;
  size_t at_ = 0;
  size_t begin_ = 0;  // of the running operation
  size_t items_ = 0;  // of all containers together
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::unordered_map<uint32_t, PickleRef> memo_;
  PickleProgram program_;
};

}  // namespace bertft
