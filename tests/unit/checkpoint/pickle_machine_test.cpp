// The restricted pickle machine on pickles written by hand: values, refusals by name, and the limits that keep a few
// bytes from claiming memory.
#include "checkpoint/pickle_machine.h"

#include <sys/resource.h>

#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

std::string error_of(const std::string& pickle) {
  return test::checkpoint_error([&] { run_pickle(pickle, "dir/pytorch_model.bin"); });
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST_CASE("values of every kind that a state dict holds") {
  // {'n': -2, 'k': 300, 'big': 2**70, 'l': [None, True], 't': (1, 2, 3)}
  const std::string pickle =
      "\x80\x02}(U\x01nJ\xfe\xff\xff\xffX\x01\0\0\0kM\x2c\x01\x8c\x03"s
      "big\x8a\x09\0\0\0\0\0\0\0\0\x40U\x01l]q\x07(N\x88"s
      "eU\x01tK\x01K\x02K\x03\x87u.rest"s;
  const PickleProgram program = run_pickle(pickle, "x");
  CHECK(program.bytes == pickle.size() - 4);
  const PickleValue& root = program.at(program.root);
  REQUIRE(root.kind == PickleKind::kDict);
  REQUIRE(root.items.size() == 10);
  CHECK(program.item(root, 0).text == "n");
  CHECK(program.item(root, 1).number == -2);
  CHECK(program.item(root, 3).number == 300);
  CHECK(program.item(root, 4).text == "big");
  CHECK(program.item(root, 5).kind == PickleKind::kLong);
  CHECK(program.item(root, 5).text.size() == 9);
  CHECK(program.item(root, 7).kind == PickleKind::kList);
  CHECK(program.item(program.item(root, 7), 1).number == 1);
  CHECK(program.item(program.item(root, 9), 2).number == 3);
}

TEST_CASE("a memo names one value, also one that changes later") {
  const PickleProgram program = run_pickle("]q\x00(h\x00K\x05"s + "eh\x00\x86."s, "x");
  const PickleValue& root = program.at(program.root);
  REQUIRE(root.items.size() == 2);
  CHECK(root.items[0] == root.items[1]);
  CHECK(program.item(root, 0).items.size() == 2);  // itself and 5
}

TEST_CASE("globals outside the list are refused by name, wherever a pickle can name them") {
  const std::pair<std::string, std::string> cases[] = {
      {"cos\nsystem\n(U\x02lstR."s, "global os.system is not allowed"},
      {"cbuiltins\neval\n."s, "global builtins.eval is not allowed"},
      {"\x80\x04\x8c\x02os\x8c\x06system\x93."s, "global os.system is not allowed"},
      {"(ios\nsystem\n."s, "global os.system is not allowed"},
      {"ctorch.storage\n_load_from_bytes\n."s, "global torch.storage._load_from_bytes is not allowed"},
      {"ctorch._utils\n_rebuild_tensor_v2\x00\n."s, "is not allowed"},
      {"ctorch\nFloatStorage.__init__\n."s, "global torch.FloatStorage.__init__ is not allowed"},
      {"ctorch.cuda\nload\n."s, "global torch.cuda.load is not allowed"},
      {"ccollections.OrderedDict\nfromkeys\n."s, "global collections.OrderedDict.fromkeys is not allowed"},
      {"c\n\n."s, "is not allowed"},
      {"c" + std::string(5000, 'a') + "\nb\n.", "..."},
  };
  for (const auto& [pickle, expected] : cases) {
    const std::string message = error_of(pickle);
    CHECK_THAT(message, StartsWith("dir/pytorch_model.bin: at byte "));
    CHECK_THAT(message, Contains(expected) && Contains("Nothing of it was executed"));
    CHECK(message.size() < 600);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("calls, constructions and attributes are refused even of what is on the list") {
  const std::string dict = "ccollections\nOrderedDict\n";
  const std::pair<std::string, std::string> cases[] = {
      {"U\x01x)R."s, "a text is called as a function"},
      {dict + ")R)R.", "a dictionary is called as a function"},
      {"ctorch\nFloatStorage\n)R.", "torch.FloatStorage is called as a function"},
      {dict + "]R.", "a call without a tuple"},
      {dict + "(K\x01K\x02tR."s, "arguments other than one list"},
      {dict + "(](K\x01" + "etR."s, "something that is no pairs"},
      {"ctorch._utils\n_rebuild_parameter\n(K\x01tR."s, "a parameter that is no tensor"},
      {dict + ")\x81.", "an object of collections.OrderedDict is made by its class"},
      {dict + ")}\x92.", "an object of collections.OrderedDict is made by its class"},
      {"(" + dict + "o.", "an object of collections.OrderedDict is made by its class"},
      {dict + ")R}U\x0c__setstate__K\x01sb."s, "the attribute __setstate__ of a dictionary is set"},
      {dict + ")RK\x01" + "b."s, "the state of a dictionary is set by a number"},
      {dict + "}b.", "the state of a class or function is set"},
      {"]}b.", "the state of a list is set"},
      {"K\x01Q."s, "a persistent id that is no tuple"},
      {"Pos\n.", "the operation 0x50 is none"},
      {"\x82\x01."s, "the operation 0x82 is none"},
      {"S'text'\n.", "the operation 0x53 is none"},
      {"\x97.", "the operation 0x97 is none"},
  };
  for (const auto& [pickle, expected] : cases) CHECK_THAT(error_of(pickle), Contains(expected));
}

TEST_CASE("operations whose operands are not there") {
  const std::pair<std::string, std::string> cases[] = {
      {"", "ends within the operation at byte 0"},
      {"N", "ends within the operation at byte 1"},
      {".", "values left over or none"},
      {"NN.", "values left over"},
      {"(N.", "values left over"},
      {"0.", "a value is needed"},
      {"N(0.", "a value is needed"},  // must not reach below a mark
      {"2.", "a value is needed"},
      {"t.", "a MARK is needed"},
      {"N\x85\x86.", "a value is needed"},
      {"Na.", "a value is needed"},
      {"NNa.", "None where a list is needed"},
      {"](NNu.", "a list where a dictionary is needed"},
      {"}(Nu.", "a key that has no value"},
      {"(Nd.", "a key that has no value"},
      {"h\x05.", "the memo has no entry 5"},
      {"j\xff\xff\xff\xff.", "the memo has no entry 4294967295"},
      {"q\x05.", "a value is needed"},
      {"\x80\x06N.", "newer than 5"},
      {"X\xff\xff\xff\xffx", "ends within"},
      {"\x8d\xff\xff\xff\xff\xff\xff\xff\xffx", "ends within"},
      {"cos", "ends within"},
      {"NN\x93.", "a global without a name"},
  };
  for (const auto& [pickle, expected] : cases) CHECK_THAT(error_of(pickle), Contains(expected));
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_CASE("pickle bombs meet a limit before they take memory") {
  const std::string million_items = "](" + repeated("N", 1'000'000) + "eq\x01"s;
  const std::pair<std::string, std::string> cases[] = {
      {repeated("(", 1000) + ".", "nested deeper"},
      {repeated("]", 3'000'000) + ".", "more values"},
      {"N" + repeated("\x94", 3'000'000) + ".", "more memo entries"},
      // Each call would copy a million entries again.
      {million_items + repeated("ctorch\nSize\nh\x01\x85R"s, 100) + ".", "more entries"},
      {million_items + repeated("h\x01\x85", 3'000'000) + ".", "more values"},
  };
  const long before = peak_kilobytes();
  for (const auto& [pickle, expected] : cases) CHECK_THAT(error_of(pickle), Contains(expected));
  CHECK(peak_kilobytes() - before < 600'000);

  std::string deep = "]";
  for (int i = 0; i < 100'000; ++i) deep += "\x85";  // tuples in tuples: data, not a recursion
  CHECK(run_pickle(deep + ".", "x").values.size() == 100'001);
  std::string long_one = repeated("N0", kMaxPickleBytes / 2) + "N.";
  CHECK_THAT(error_of(long_one), Contains("more values"));
}

}  // namespace
}  // namespace bertft
