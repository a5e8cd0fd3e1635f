// What is not valid: one message for each fault, and no crash for any bytes at all.
#include <cstring>
#include <memory>
#include <random>

#include "checkpoint/convert.h"
#include "checkpoint/safetensors.h"
#include "core/error.h"
#include "tests/support/shared_data.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::checkpoint_error;
using test::entry;
using test::safetensors_bytes;

std::string one_entry(std::string_view dtype, std::string_view shape, size_t begin, size_t end) {
  return "{" + entry("layer.weight", dtype, shape, begin, end) + "}";
}

// A file whose only entry is `body`, with eight bytes of data.
std::string with_body(const std::string& body) { return safetensors_bytes(R"({"w":)" + body + "}", "12345678"); }

struct BrokenFile {
  std::string bytes;
  std::string expected;  // part of the message
};

std::vector<BrokenFile> broken_beginnings() {
  using namespace std::string_literals;
  return {
      {"", "the file is empty"},
      {"abc", "the file has only 3 bytes"},
      {std::string("\x10\0\0\0\0\0\0\0", 8), "a header of 16 bytes, the file has only 0 more"},
      {safetensors_bytes("", "12345678"), "does not begin with '{'"},
      {std::string(8, '\xff') + "{}", "a header of 18446744073709551615 bytes, more than the allowed"},
      {"\x01\xe1\xf5\x05\0\0\0\0{}"s, "a header of 100000001 bytes, more than the allowed 100000000"},
      {safetensors_bytes(one_entry("F32", "[2]", 0, 8), "12345678").substr(0, 40), "the file has only 32 more"},
      {"PK\x03\x04\x14\0\0\0\0\0\x08\x08\0\0"s, "It is a zip archive, as torch.save writes it"},
      {"\x80\x02}q\0(X\x09\0\0\0"s, "It is a Python pickle"},
      {"\x89HDF\r\n\x1a\n\0\0"s, "It is an HDF5 file"},
      {"GGUF\x03\0\0\0\0\0\0\x01"s, "It is "},
      {R"({"error":"Repository not found"})", R"(It is a text file that begins with '{"error")"},
      {"<Error><Code>AccessDenied</Code></Error>", "It is a text file that begins with '<Error>"},
      {"<!DOCTYPE html><html><body>Sign in</body></html>", "is a web page, not the file itself"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 1234567\n", "the real one has 1234567 bytes"},
  };
}

std::vector<BrokenFile> broken_json() {
  using namespace std::string_literals;
  const std::string metadata = R"({"__metadata__":)";
  return {
      {safetensors_bytes("[]", ""), "does not begin with '{' but with '[]'"},
      {safetensors_bytes(" {}", ""), "does not begin with '{'"},
      {safetensors_bytes("\xEF\xBB\xBF{}", ""), "does not begin with '{'"},
      {safetensors_bytes("{}{}", ""), "not valid JSON at byte"},
      {safetensors_bytes("{} x", ""), "not valid JSON at byte 12 of the file"},
      {safetensors_bytes(R"({"w":)", ""), "not valid JSON at byte"},
      {safetensors_bytes("{\"w\xff\":1}", ""), "not valid JSON at byte"},
      {safetensors_bytes("{}\0\0\0"s, ""), "a zero byte at byte 10"},
      {safetensors_bytes("{'w':1}", ""), "not valid JSON at byte"},
      {safetensors_bytes("{\"w\":" + std::string(100000, '[') + "}", ""), "a list where an object was expected"},
      {safetensors_bytes(R"({"w":1})", ""), "tensor 'w': the number 1 where an object was expected"},
      {safetensors_bytes(R"({"w":null})", ""), "null where an object was expected"},
      {with_body(R"({"dtype":{"a":{"a":1}},"shape":[2],"data_offsets":[0,8]})"), "'dtype' is a nested object"},
      {with_body(R"({"dtype":"F32","shape":[[2]],"data_offsets":[0,8]})"), "'shape' holds a list"},
      {with_body(R"({"dtype":"F32","shape":[2],"data_offsets":[0,{}]})"), "'data_offsets' holds a nested object"},
      {safetensors_bytes(metadata + "null}", ""), "__metadata__: null where an object was expected"},
      {safetensors_bytes(metadata + R"({"a":1}})", ""), "__metadata__: the value of 'a' is the number 1"},
      {safetensors_bytes(metadata + R"({"a":["x"]}})", ""), "__metadata__: the value of 'a' is a list"},
      {safetensors_bytes(metadata + R"({"a":{"b":"x"}}})", ""), "the value of 'a' is a nested object"},
      {safetensors_bytes(metadata + R"({"a":"x","a":"y"}})", ""), "__metadata__: the key 'a' comes twice"},
      {safetensors_bytes(metadata + R"({},"__metadata__":{}})", ""), "the header has '__metadata__' twice"},
  };
}

std::vector<BrokenFile> broken_entries() {
  const std::string data = "12345678";
  return {
      {with_body(R"({"shape":[2],"data_offsets":[0,8]})"), "tensor 'w': the key 'dtype' is missing"},
      {with_body(R"({"dtype":"F32","data_offsets":[0,8]})"), "the key 'shape' is missing"},
      {with_body(R"({"dtype":"F32","shape":[2]})"), "the key 'data_offsets' is missing"},
      {with_body(R"({})"), "is missing"},
      {with_body(R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})"), "the key 'dtype' comes twice"},
      {with_body(R"({"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]})"), "the key 'shape' comes twice"},
      {with_body(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"offset":1})"), "unknown key 'offset'"},
      {with_body(R"({"dtype":"F31","shape":[2],"data_offsets":[0,8]})"), "unknown element type (dtype) 'F31'"},
      {with_body(R"({"dtype":"F4","shape":[16],"data_offsets":[0,8]})"), "unknown element type (dtype) 'F4'"},
      {with_body(R"({"dtype":32,"shape":[2],"data_offsets":[0,8]})"), "'dtype' is the number 32, not a text"},
      {with_body(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})"), "'shape' is the number 2, not a list"},
      {with_body(R"({"dtype":"F32","shape":"2","data_offsets":[0,8]})"), "'shape' is the text '2'"},
      {with_body(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"), "the shape has the negative size -2"},
      {with_body(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"), "'shape' holds the number 2.0"},
      {with_body(R"({"dtype":"F32","shape":[true],"data_offsets":[0,8]})"), "'shape' holds true or false"},
      {with_body(R"({"dtype":"F32","shape":["2"],"data_offsets":[0,8]})"), "'shape' holds the text '2'"},
      {with_body(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]})"), "more than any file holds"},
      {with_body(R"({"dtype":"F32","shape":[99999999999999999999999],"data_offsets":[0,8]})"),
       "'shape' holds the number"},
      {with_body(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})"), "more elements than any"},
      {with_body(R"({"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]})"), "more elements than any"},
      {with_body(R"({"dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,8]})"), "more elements than any"},
      {with_body(R"({"dtype":"F32","shape":[9223372036854775807,3,0],"data_offsets":[0,0]})"),
       "more elements than any"},
      {with_body(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"), "data_offsets has 1 numbers, two are needed"},
      {with_body(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4,8]})"), "data_offsets has 3 numbers"},
      {with_body(R"({"dtype":"F32","shape":[2],"data_offsets":[-8,0]})"), "'data_offsets' holds the number -8"},
      {with_body(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), "ends at byte 0 before it begins at 8"},
      {with_body(R"({"dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551615]})"),
       "takes 8 bytes, its data_offsets span 7"},
      {with_body(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"), "F32 of shape [3] takes 12 bytes"},
      {with_body(R"({"dtype":"F16","shape":[2],"data_offsets":[0,8]})"), "F16 of shape [2] takes 4 bytes"},
      {with_body(R"({"dtype":"F32","shape":[0],"data_offsets":[0,8]})"), "takes 0 bytes"},
  };
}

std::vector<BrokenFile> broken_layouts() {
  const std::string data = "12345678";
  const std::string a = entry("a", "U8", "[4]", 0, 4);
  return {
      {safetensors_bytes("{" + a + "," + entry("a", "U8", "[4]", 4, 8) + "}", data), "the header has 'a' twice"},
      {safetensors_bytes("{" + a + R"(,"\u0061":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})", data),
       "the header has 'a' twice"},
      {safetensors_bytes("{" + a + "," + entry("b", "U8", "[4]", 3, 7) + "}", data), "'a' and 'b' overlap at byte 3"},
      {safetensors_bytes("{" + a + "," + entry("b", "U8", "[4]", 0, 4) + "}", data), "'a' and 'b' overlap at byte 0"},
      {safetensors_bytes("{" + entry("e", "U8", "[0]", 2, 2) + "," + a + "}", "1234"), "'a' and 'e' overlap at byte 2"},
      {safetensors_bytes("{" + a + "," + entry("b", "U8", "[3]", 5, 8) + "}", data),
       "a hole: bytes 4 to 5 of the data, before tensor 'b'"},
      {safetensors_bytes("{" + entry("b", "U8", "[4]", 4, 8) + "}", data), "a hole: bytes 0 to 4"},
      {safetensors_bytes("{" + a + "}", data), "4 bytes after the last tensor"},
      {safetensors_bytes("{}", "x"), "1 bytes after the last tensor"},
      {safetensors_bytes("{" + entry("a", "F32", "[4]", 0, 16) + "}", data), "truncated: tensor 'a' ends at byte 16"},
      {safetensors_bytes("{" + entry("e", "F32", "[0]", 64, 64) + "}", ""), "a hole"},
  };
}

void check_all(const std::vector<BrokenFile>& files) {
  for (const BrokenFile& file : files) {
    const std::string message = checkpoint_error([&] { parse_safetensors(file.bytes, "dir/model.safetensors"); });
    CHECK_THAT(message, StartsWith("dir/model.safetensors"));
    CHECK_THAT(message, Contains(file.expected));
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.size() < 600);
  }
}

TEST_CASE("files that begin with something else") { check_all(broken_beginnings()); }
TEST_CASE("headers that are not the JSON they should be") { check_all(broken_json()); }
TEST_CASE("entries that describe no tensor") { check_all(broken_entries()); }
TEST_CASE("tensors that do not tile the data") { check_all(broken_layouts()); }

TEST_CASE("messages end with what to do") {
  const auto message_of = [](const std::string& bytes) {
    return checkpoint_error([&] { parse_safetensors(bytes, "x"); });
  };
  CHECK_THAT(message_of(""), Contains("copy or download it again"));
  CHECK_THAT(message_of(with_body("{}")), Contains("Save it again"));
  CHECK_THAT(message_of(with_body(R"({"dtype":"F4","shape":[16],"data_offsets":[0,8]})")),
             Contains("F32, F16 or BF16"));
  CHECK_THAT(message_of("PK\x03\x04____________"), Contains("A safetensors file is needed"));
}

TEST_CASE("a name from the file cannot spoil the message") {
  const std::string bytes = safetensors_bytes(
      R"({"\u001b[2J\u0000\n)" + std::string(5000, 'n') + R"(":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
      "12345678");
  const std::string message = checkpoint_error([&] { parse_safetensors(bytes, "x"); });
  CHECK_THAT(message, Contains("takes 12 bytes"));
  CHECK(message.size() < 500);
  CHECK(message.find_first_of(std::string_view("\x1b\0\n", 3)) == std::string::npos);
}

TEST_CASE("B15: a Git LFS pointer is called by its name") {
  const auto path = test::shared_path("field_cases/B15/pointer.txt");
  if (!path) return;
  const std::string message = checkpoint_error([&] { TensorFile::open(*path); });
  CHECK_THAT(message, Contains("Git LFS pointer"));
  CHECK_THAT(message, Contains("437999801"));
  CHECK_THAT(message, Contains("git lfs pull"));
}

TEST_CASE("a file that cannot be read is an error with its path") {
  CHECK_THROWS_AS(TensorFile::open("absent/model.safetensors"), DataError);
  CHECK_THROWS_WITH(TensorFile::open("absent/model.safetensors"), Contains("absent/model.safetensors"));
}

// Changes, cuts, doubles or extends some bytes.
std::string mutated(std::string bytes, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  for (size_t change = below(4); change-- > 0 && !bytes.empty();) {
    const size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes[at] = "0123456789[]{}\",:-e."[below(20)];
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.insert(at, bytes.substr(below(bytes.size()), below(24)));
        break;
      default:
        bytes.erase(at, below(24));
    }
  }
  // Mostly keeps the header's length right, so that the changes reach the deeper checks.
  const size_t end = bytes.rfind('}');
  if (bytes.size() > 8 && end != std::string::npos && end > 8 && below(4) != 0) {
    for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((end - 7) >> (8 * i) & 0xff);
  }
  return bytes;
}

TEST_CASE("20,000 damaged files give an error or tensors within the file") {
  const std::string json = R"({"__metadata__":{"format":"pt"},)" + entry("a", "F32", "[2,3]", 0, 24) + "," +
                           entry("b", "F16", "[3]", 24, 30) + "," + entry("c", "I64", "[1]", 30, 38) + "," +
                           entry("d", "F64", "[0,2]", 38, 38) + "}";
  const std::string valid = safetensors_bytes(json, std::string(38, '\x3c'));
  REQUIRE(parse_safetensors(valid, "x").tensors.size() == 4);
  std::mt19937_64 random(7);
  int refused = 0;
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string bytes = mutated(valid, random);
    // A block of exactly this size, so that a sanitizer sees the first byte read beyond it.
    const std::unique_ptr<char[]> block(new char[bytes.size()]);
    if (!bytes.empty()) std::memcpy(block.get(), bytes.data(), bytes.size());
    const std::string_view view(block.get(), bytes.size());
    try {
      for (const TensorView& tensor : parse_safetensors(view, "x").tensors) {
        const auto* begin = reinterpret_cast<const char*>(tensor.data);
        REQUIRE((begin >= view.data() && begin + tensor.bytes <= view.data() + view.size()));
        REQUIRE(tensor.bytes == static_cast<size_t>(element_count(tensor.shape)) * dtype_bytes(tensor.dtype));
        if (!is_weight_dtype(tensor.dtype)) continue;
        std::vector<float> values(static_cast<size_t>(element_count(tensor.shape)));
        copy_to_f32(tensor, values.data());
      }
      ++accepted;
    } catch (const CheckpointError&) {
      ++refused;
    }
  }
  CHECK(accepted > 1000);
  CHECK(refused > 5000);
}

}  // namespace
}  // namespace bertft
