// SHA-256 (FIPS 180-4) of bytes, as lower-case hexadecimal: digests that any other tool can make, too.
#pragma once

#include <string>
#include <string_view>

namespace bertft::test {

std::string sha256_hex(std::string_view bytes);

}  // namespace bertft::test
