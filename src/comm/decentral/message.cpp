#include "comm/decentral/message.h"

#include <fmt/format.h>

#include <bit>

#include "comm/agreed.h"
#include "core/error.h"

namespace bertft {
namespace {

constexpr size_t kAgreementBytes = 24;

void append(std::string& bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

uint64_t number_at(std::string_view bytes, size_t offset, int size) {
  uint64_t value = 0;
  for (int i = 0; i < size; ++i) {
    value |= uint64_t{static_cast<unsigned char>(bytes[offset + static_cast<size_t>(i)])} << (8 * i);
  }
  return value;
}

std::string encode_header(const DecentralHeader& header, size_t body_bytes) {
  std::string bytes;
  bytes.reserve(kDecentralHeaderBytes + body_bytes);
  append(bytes, header.job, 8);
  append(bytes, static_cast<uint64_t>(header.step), 8);
  append(bytes, static_cast<uint64_t>(header.round), 4);
  append(bytes, static_cast<uint64_t>(header.phase), 2);
  append(bytes, static_cast<uint64_t>(header.kind), 2);
  return bytes;
}

void require_body(std::string_view message, size_t expected, const char* what) {
  const size_t body = message.size() - kDecentralHeaderBytes;
  if (body != expected) {
    throw CommError(
        fmt::format("{} of a peer has {} bytes behind its header, not {}: the ranks run different programs "
                    "or layouts",
                    what, body, expected));
  }
}

uint64_t bit_of(size_t bit) { return uint64_t{1} << (bit % 64); }

}  // namespace

size_t Contribution::bits(int units) { return static_cast<size_t>(units) + kStatusFlagCount; }

size_t Contribution::message_bytes(int units) { return kDecentralHeaderBytes + 8 * ((bits(units) + 63) / 64); }

Contribution::Contribution(const UnitSet& ready, uint32_t flags) : units_(ready.units()), words_(ready.words()) {
  check((flags & ~kAllStatusFlags) == 0, "a status flag is one of agreed.h");
  words_.resize((bits(units_) + 63) / 64);
  for (size_t flag = 0; flag < kStatusFlagCount; ++flag) {
    const size_t bit = static_cast<size_t>(units_) + flag;
    if ((flags >> flag & 1) == 0) words_[bit / 64] |= bit_of(bit);
  }
}

UnitSet Contribution::ready() const {
  std::vector<uint64_t> words(words_.begin(),
                              words_.begin() + static_cast<std::ptrdiff_t>(UnitSet::word_count(units_)));
  if (units_ % 64 != 0) words.back() &= bit_of(static_cast<size_t>(units_)) - 1;
  return UnitSet::from_words(units_, std::move(words));
}

uint32_t Contribution::flags() const {
  uint32_t flags = 0;
  for (size_t flag = 0; flag < kStatusFlagCount; ++flag) {
    const size_t bit = static_cast<size_t>(units_) + flag;
    if ((words_[bit / 64] & bit_of(bit)) == 0) flags |= 1u << flag;
  }
  return flags;
}

void Contribution::combine(const Contribution& other) {
  check(units_ == other.units_, "contributions belong to one layout");
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
}

std::string encode(const DecentralHeader& header, const Contribution& body) {
  std::string bytes = encode_header(header, 8 * body.words().size());
  for (const uint64_t word : body.words()) append(bytes, word, 8);
  return bytes;
}

std::string encode(const DecentralHeader& header, const Agreement& body) {
  std::string bytes = encode_header(header, kAgreementBytes);
  append(bytes, body.flags, 8);
  append(bytes, std::bit_cast<uint64_t>(body.min), 8);
  append(bytes, std::bit_cast<uint64_t>(body.max), 8);
  return bytes;
}

DecentralHeader decode_header(std::string_view message) {
  if (message.size() < kDecentralHeaderBytes) {
    throw CommError(fmt::format("a control message of a peer has {} bytes, fewer than its header", message.size()));
  }
  DecentralHeader header;
  header.job = number_at(message, 0, 8);
  header.step = static_cast<int64_t>(number_at(message, 8, 8));
  header.round = static_cast<int32_t>(number_at(message, 16, 4));
  header.phase = static_cast<int32_t>(number_at(message, 20, 2));
  const uint64_t kind = number_at(message, 22, 2);
  if (kind != static_cast<uint64_t>(DecentralKind::kNegotiation) &&
      kind != static_cast<uint64_t>(DecentralKind::kAgreement)) {
    throw CommError(fmt::format("a control message of a peer is of the unknown kind {}", kind));
  }
  header.kind = static_cast<DecentralKind>(kind);
  if (header.step < 0 || header.round < 0) {
    throw CommError(fmt::format("a control message of a peer is of step {}, round {}", header.step, header.round));
  }
  return header;
}

Contribution decode_contribution(std::string_view message, int units) {
  const size_t bits = Contribution::bits(units);
  const size_t count = (bits + 63) / 64;
  require_body(message, 8 * count, "a negotiation message");
  Contribution body;
  body.units_ = units;
  for (size_t i = 0; i < count; ++i) body.words_.push_back(number_at(message, kDecentralHeaderBytes + 8 * i, 8));
  if (bits % 64 != 0 && (body.words_.back() & ~(bit_of(bits) - 1)) != 0) {
    throw CommError(fmt::format("a negotiation message of a peer has bits beyond those of {} units", units));
  }
  return body;
}

Agreement decode_agreement(std::string_view message) {
  require_body(message, kAgreementBytes, "an agreement message");
  const uint64_t flags = number_at(message, kDecentralHeaderBytes, 8);
  if (flags >> 32 != 0) throw CommError("an agreement message of a peer has flags that there are not");
  Agreement body;
  body.flags = static_cast<uint32_t>(flags);
  body.min = std::bit_cast<double>(number_at(message, kDecentralHeaderBytes + 8, 8));
  body.max = std::bit_cast<double>(number_at(message, kDecentralHeaderBytes + 16, 8));
  return body;
}

}  // namespace bertft
