#include "checkpoint/pickle_machine.h"

#include <fmt/format.h>

#include <utility>

#include "checkpoint/pickle_globals.h"
#include "checkpoint/pickle_stack.h"
#include "core/text.h"

namespace bertft {
namespace {

// The operations by their codes.
enum Op : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kAppends = 'e',
  kBinGet = 'h',
  kInst = 'i',
  kLongBinGet = 'j',
  kList = 'l',
  kObj = 'o',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyTuple = ')',
  kEmptyList = ']',
  kEmptyDict = '}',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

constexpr int kNewestProtocol = 5;

// One run over one pickle.
class Machine : private PickleStack {
 public:
  using PickleStack::PickleStack;

  PickleProgram run() {
    while (true) {
      const unsigned char op = next_operation();
      if (op == kStop) return finish();
      if (!push_constant(op) && !push_container(op) && !change_container(op) && !use_memo(op) && !use_global(op)) {
        fail(fmt::format("the operation 0x{:02x} is none that a file of weights needs", op));
      }
    }
  }

 private:
  // Each of these says whether the operation was one of its own.

  bool push_constant(unsigned char op) {
    switch (op) {
      case kProto:
        if (take_number(1) > kNewestProtocol) fail("a pickle protocol newer than 5");
        return true;
      case kFrame:
        take(8);  // the length of a frame is a hint for buffering
        return true;
      case kNone:
        push({});
        return true;
      case kNewTrue:
      case kNewFalse:
        push_number(PickleKind::kBool, op == kNewTrue ? 1 : 0);
        return true;
      case kBinInt:
        push_number(PickleKind::kInteger, static_cast<int32_t>(take_number(4)));
        return true;
      case kBinInt1:
      case kBinInt2:
        push_number(PickleKind::kInteger, static_cast<int64_t>(take_number(op == kBinInt1 ? 1 : 2)));
        return true;
      case kLong1:
        push_long(take(take_number(1)));
        return true;
      case kBinFloat:
        take(8);
        push_number(PickleKind::kReal, 0);
        return true;
      case kShortBinString:
      case kShortBinUnicode:
        push_text(PickleKind::kText, take(take_number(1)));
        return true;
      case kBinString:
      case kBinUnicode:
        push_text(PickleKind::kText, take(take_number(4)));
        return true;
      case kBinUnicode8:
        push_text(PickleKind::kText, take(take_number(8)));
        return true;
      case kShortBinBytes:
      case kBinBytes:
        push_text(PickleKind::kBytes, take(take_number(op == kBinBytes ? 4 : 1)));
        return true;
      default:
        return false;
    }
  }

  void push_long(std::string_view bytes) {
    if (bytes.size() > sizeof(int64_t)) return push_text(PickleKind::kLong, bytes);
    uint64_t number = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~uint64_t{0} : 0;
    for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
    push_number(PickleKind::kInteger, static_cast<int64_t>(number));
  }

  bool push_container(unsigned char op) {
    switch (op) {
      case kMark:
        push_mark();
        return true;
      case kEmptyTuple:
        push({PickleKind::kTuple, 0, {}, {}});
        return true;
      case kEmptyList:
        push({PickleKind::kList, 0, {}, {}});
        return true;
      case kEmptyDict:
        push({PickleKind::kDict, 0, {}, {}});
        return true;
      case kTuple:
        push({PickleKind::kTuple, 0, {}, pop_to_mark()});
        return true;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        push({PickleKind::kTuple, 0, {}, pop_count(op - kTuple1 + size_t{1})});
        return true;
      case kList:
        push({PickleKind::kList, 0, {}, pop_to_mark()});
        return true;
      case kDict:
        push({PickleKind::kDict, 0, {}, even(pop_to_mark())});
        return true;
      default:
        return false;
    }
  }

  std::vector<PickleRef> even(std::vector<PickleRef> items) const {
    if (items.size() % 2 != 0) fail("a dictionary with a key that has no value");
    return items;
  }

  bool change_container(unsigned char op) {
    switch (op) {
      case kPop:
        pop();
        return true;
      case kPopMark:
        pop_to_mark();
        return true;
      case kDup:
        push_again(top());
        return true;
      case kAppend:
        append(PickleKind::kList, {pop()});
        return true;
      case kAppends:
        append(PickleKind::kList, pop_to_mark());
        return true;
      case kSetItem:
        append(PickleKind::kDict, pop_count(2));
        return true;
      case kSetItems:
        append(PickleKind::kDict, even(pop_to_mark()));
        return true;
      default:
        return false;
    }
  }

  bool use_memo(unsigned char op) {
    switch (op) {
      case kBinPut:
      case kLongBinPut:
        memoize(static_cast<uint32_t>(take_number(op == kBinPut ? 1 : 4)));
        return true;
      case kMemoize:
        memoize_next();
        return true;
      case kBinGet:
      case kLongBinGet:
        push_memo(static_cast<uint32_t>(take_number(op == kBinGet ? 1 : 4)));
        return true;
      default:
        return false;
    }
  }

  bool use_global(unsigned char op) {
    switch (op) {
      case kGlobal: {
        const std::string_view module = take_line();
        push_global(module, take_line());
        return true;
      }
      case kStackGlobal: {
        const std::vector<PickleRef> names = pop_count(2);
        const PickleValue& module = at(names[0]);
        const PickleValue& name = at(names[1]);
        if (module.kind != PickleKind::kText || name.kind != PickleKind::kText) fail("a global without a name");
        push_global(module.text, name.text);
        return true;
      }
      case kInst: {
        const std::string_view module = take_line();
        refuse_global(fmt::format("{}.{}", excerpt(module), excerpt(take_line())));
      }
      case kBinPersId:
        push_storage();
        return true;
      case kReduce:
        reduce();
        return true;
      case kBuild:
        build();
        return true;
      case kNewObj:
      case kNewObjEx:
      case kObj:
        refuse_construction(op);
      default:
        return false;
    }
  }

  void push_global(std::string_view module, std::string_view name) {
    const PickleGlobal* global = find_pickle_global(module, name);
    if (global == nullptr) refuse_global(fmt::format("{}.{}", excerpt(module), excerpt(name)));
    push_text(PickleKind::kGlobal, global->name);
  }

  // An object made by its class: not even of the classes on the list.
  [[noreturn]] void refuse_construction(unsigned char op) {
    const std::vector<PickleRef> items = op == kObj ? pop_to_mark() : pop_count(op == kNewObj ? 2 : 3);
    if (items.empty()) fail("an object of no class");
    const PickleValue& type = at(items.front());
    fail(fmt::format("an object of {} is made by its class, which no state dict needs",
                     type.kind == PickleKind::kGlobal ? type.text : pickle_kind_name(type.kind)));
  }

  void push_storage() {
    const PickleValue& id = at(pop());
    if (id.kind != PickleKind::kTuple) fail("a persistent id that is no tuple");
    push({PickleKind::kStorage, 0, {}, id.items});
  }

  // The call of a global from the list; the value that takes its place.
  void reduce() {
    const std::vector<PickleRef> operands = pop_count(2);
    const PickleValue& function = at(operands[0]);
    const PickleValue& arguments = at(operands[1]);
    if (function.kind != PickleKind::kGlobal) {
      fail(fmt::format("{} is called as a function", pickle_kind_name(function.kind)));
    }
    if (arguments.kind != PickleKind::kTuple) fail("a call without a tuple of arguments");
    switch (find_pickle_global(function.text)->call) {
      case PickleCall::kOrderedDict:
        return push({PickleKind::kDict, 0, {}, pairs_of(arguments)});
      case PickleCall::kSize:
        return push({PickleKind::kTuple, 0, {}, items_of(arguments)});
      case PickleCall::kRebuildTensor:
        return push({PickleKind::kTensor, 0, {}, arguments.items});
      case PickleCall::kRebuildParameter:
        if (arguments.items.empty() || item(arguments, 0).kind != PickleKind::kTensor) {
          fail("a parameter that is no tensor");
        }
        return push_again(arguments.items.front());
      case PickleCall::kNothing:
        fail(fmt::format("{} is called as a function", function.text));
    }
  }

  // The items of the only argument, a list or tuple; none when there is no argument.
  std::vector<PickleRef> items_of(const PickleValue& arguments) const {
    if (arguments.items.empty()) return {};
    const PickleValue& only = item(arguments, 0);
    if (arguments.items.size() != 1 || (only.kind != PickleKind::kList && only.kind != PickleKind::kTuple)) {
      fail("arguments other than one list");
    }
    return only.items;
  }

  // OrderedDict([[key, value], ...]), as Python 2 wrote it.
  std::vector<PickleRef> pairs_of(const PickleValue& arguments) const {
    std::vector<PickleRef> flat;
    for (const PickleRef ref : items_of(arguments)) {
      const PickleValue& pair = at(ref);
      const bool is_pair =
          (pair.kind == PickleKind::kList || pair.kind == PickleKind::kTuple) && pair.items.size() == 2;
      if (!is_pair) fail("an OrderedDict of something that is no pairs");
      flat.insert(flat.end(), pair.items.begin(), pair.items.end());
    }
    return flat;
  }

  // Attributes are set on one kind of object only: the version numbers that torch hangs on a state dict. They are
  // dropped.
  void build() {
    const PickleValue& state = at(pop());
    const PickleValue& target = at(top());
    if (target.kind != PickleKind::kDict || state.kind != PickleKind::kDict) {
      fail(fmt::format("the state of {} is set by {}", pickle_kind_name(target.kind), pickle_kind_name(state.kind)));
    }
    for (size_t i = 0; i < state.items.size(); i += 2) {
      const PickleValue& key = item(state, i);
      if (key.kind == PickleKind::kText && key.text == "_metadata") continue;
      fail(fmt::format("the attribute {} of a dictionary is set",
                       key.kind == PickleKind::kText ? excerpt(key.text) : std::string(pickle_kind_name(key.kind))));
    }
  }
};

}  // namespace

PickleProgram run_pickle(std::string_view bytes, const std::string& where) {
  return Machine(bytes.substr(0, kMaxPickleBytes), where).run();
}

}  // namespace bertft
