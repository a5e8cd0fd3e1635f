#include "bench/byte_size.h"

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("sizes have binary and decimal suffixes, and lists commas") {
  CHECK(parse_byte_sizes("4,1K,64K,16M,438MB,1G", "--sizes") ==
        std::vector<int64_t>{4, 1024, 65536, 16777216, 438000000, 1073741824});
  CHECK(parse_byte_size("3KiB", "--sizes") == 3072);
  CHECK(parse_byte_size("3KB", "--sizes") == 3000);
}

TEST_CASE("sizes that are none are refused with the option and the reason") {
  for (const char* text : {"", "K", "1X", "1 K", "-4K", "1.5M", "1K,", ",1K", "1k", "0x10"}) {
    INFO(text);
    CHECK_THAT(test::error_text<ConfigError>([&] { parse_byte_sizes(text, "--sizes"); }),
               Catch::StartsWith("--sizes: ") && Catch::Contains("not an amount of bytes"));
  }
  for (const char* text : {"0", "2", "1022", "0K"}) {
    INFO(text);
    CHECK_THAT(test::error_text<ConfigError>([&] { parse_byte_size(text, "--sizes"); }),
               Catch::Contains("write a multiple of 4"));
  }
  CHECK_THAT(test::error_text<ConfigError>([] { parse_byte_size("9000000000G", "--sizes"); }),
             Catch::Contains("more than"));
}

TEST_CASE("sizes are written so that they read back") {
  CHECK(byte_size_text(65536) == "64K");
  CHECK(byte_size_text(438000000) == "438MB");
  CHECK(byte_size_text(1 << 30) == "1G");
  CHECK(byte_size_text(1028) == "1028");
  for (const int64_t bytes : {4L, 1000L, 1024L, 3072000L, 437928960L, 459276288L}) {
    CHECK(parse_byte_size(byte_size_text(bytes), "--sizes") == bytes);
  }
}

}  // namespace
}  // namespace bertft
