// The memory of gradients: zero, aligned, writable to its last byte, and refused when there is none.
#include "comm/gradient_buffer.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

TEST_CASE("Gradient memory is zero, page-aligned and as large as asked for") {
  for (const size_t element_bytes : {sizeof(float), sizeof(double)}) {
    for (const int64_t elements : {1, 16, 100000, 3 << 20}) {
      const GradientBuffer buffer(elements, element_bytes);
      REQUIRE(buffer.bytes() == static_cast<size_t>(elements) * element_bytes);
      REQUIRE(reinterpret_cast<uintptr_t>(buffer.data()) % 4096 == 0);
      const std::span<unsigned char> bytes(static_cast<unsigned char*>(buffer.data()), buffer.bytes());
      REQUIRE(std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; }));
      std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(0xA5));
      REQUIRE(bytes.back() == 0xA5);
    }
  }
}

TEST_CASE("No elements need no memory, and too many are a resource error with the number of bytes") {
  REQUIRE(GradientBuffer(0, 4).data() != nullptr);
  REQUIRE_THAT(test::error_text<ResourceError>([] { GradientBuffer(int64_t{1} << 50, 8); }),
               Catch::Contains("9007199254740992 bytes"));
}

}  // namespace
}  // namespace bertft
