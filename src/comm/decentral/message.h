// The bytes of the decentral controller's messages. Little-endian on every machine; nothing in them is believed before
// it was checked.
//
//   offset  bytes
//        0      8  job: a number that all ranks of this job know and no other job has
//        8      8  step (signed); of an agreement its number, counted from 0
//       16      4  round, counted from 0 in each step; of an agreement 0
//       20      2  phase
//       22      2  kind: 1 negotiation, 2 agreement
//       24         negotiation: ceil((units + kStatusFlagCount) / 64) words of 8 bytes:
//                    bit u                 unit u is ready on all ranks that this message speaks for
//                    bit units + f         NOT status flag f, so that AND finds whether any rank has raised it
//                    bits beyond           zero
//                  agreement: 24 bytes: flags (8, the upper 4 zero), min (8, IEEE 754), max (8)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "comm/unit_set.h"

namespace bertft {

enum class DecentralKind : uint16_t { kNegotiation = 1, kAgreement = 2 };

constexpr size_t kDecentralHeaderBytes = 24;

struct DecentralHeader {
  uint64_t job = 0;
  int64_t step = 0;
  int32_t round = 0;
  int32_t phase = 0;
  DecentralKind kind = DecentralKind::kNegotiation;
};

// What one or several nodes contribute to a round. `words` is the body of a message as it is sent.
class Contribution {
 public:
  Contribution() = default;
  Contribution(const UnitSet& ready, uint32_t flags);

  static size_t bits(int units);
  // Bytes of a negotiation message for `units` units, header included.
  static size_t message_bytes(int units);

  const std::vector<uint64_t>& words() const { return words_; }
  UnitSet ready() const;
  uint32_t flags() const;  // StatusFlag
  // What both speak for together. REQUIRES the same number of units.
  void combine(const Contribution& other);

  friend bool operator==(const Contribution&, const Contribution&) = default;

 private:
  friend Contribution decode_contribution(std::string_view message, int units);

  int units_ = 0;
  std::vector<uint64_t> words_;
};

std::string encode(const DecentralHeader& header, const Contribution& body);
std::string encode(const DecentralHeader& header, const Agreement& body);

// Throw CommError: too short, unknown kind, a length or bits that the kind does not have.
DecentralHeader decode_header(std::string_view message);
Contribution decode_contribution(std::string_view message, int units);
Agreement decode_agreement(std::string_view message);

}  // namespace bertft
