#include "comm/native/frames.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>

#include "comm/native/bytes.h"
#include "core/error.h"

namespace bertft::native {
namespace {

constexpr std::string_view kGreetingMagic = "BFT1HELO";
constexpr std::string_view kAnswerMagic = "BFT1REDY";
constexpr std::string_view kControlMagic = "BFc1";
constexpr std::string_view kSumMagic = "BFs1";
constexpr std::string_view kCollectiveMagic = "BFg1";
constexpr size_t kSecretBytes = 16;

std::string random_bytes(size_t count) {
  std::string bytes(count, '\0');
  size_t done = 0;
  while (done < count) {
    const ssize_t got = ::getrandom(bytes.data() + done, count - done, 0);
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      throw ResourceError("the system gives no random bytes for the secret of the job");
    }
  }
  return bytes;
}

[[noreturn]] void refuse(const char* what) {
  throw CommError(
      fmt::format("a peer sent a {} that this program does not understand: does every rank run the same "
                  "version?",
                  what));
}

void expect_start(ByteReader& reader, std::string_view magic, uint64_t job, const char* what) {
  if (reader.raw(magic.size()) != magic) refuse(what);
  if (reader.number<uint64_t>() != job) refuse(what);
}

}  // namespace

JobSecret draw_secret() {
  const std::string random = random_bytes(8);
  JobSecret secret;
  secret.job = ByteReader(random, "random").number<uint64_t>();
  secret.caller = random_bytes(kSecretBytes);
  secret.answer = random_bytes(kSecretBytes);
  return secret;
}

std::string encode(const JobSecret& secret) {
  ByteWriter writer;
  writer.number(secret.job);
  writer.raw(secret.caller);
  writer.raw(secret.answer);
  return writer.bytes();
}

JobSecret decode_secret(std::string_view bytes) {
  ByteReader reader(bytes, "the secret");
  JobSecret secret;
  secret.job = reader.number<uint64_t>();
  secret.caller = reader.raw(kSecretBytes);
  secret.answer = reader.raw(kSecretBytes);
  reader.expect_end();
  return secret;
}

std::string encode(const Greeting& greeting, const JobSecret& secret) {
  ByteWriter writer;
  writer.raw(kGreetingMagic);
  writer.number(secret.job);
  writer.raw(secret.caller);
  writer.number(static_cast<uint32_t>(greeting.from));
  writer.number(static_cast<uint32_t>(greeting.to));
  writer.number(static_cast<uint32_t>(greeting.channel));
  writer.number(uint32_t{0});
  return writer.bytes();
}

bool decode(std::string_view bytes, const JobSecret& secret, Greeting& greeting) {
  if (bytes.size() != kGreetingBytes) return false;
  ByteReader reader(bytes, "a greeting");
  const bool is_ours = reader.raw(kGreetingMagic.size()) == kGreetingMagic && reader.number<uint64_t>() == secret.job &&
                       reader.raw(kSecretBytes) == secret.caller;
  if (!is_ours) return false;
  greeting.from = static_cast<int>(reader.number<uint32_t>());
  greeting.to = static_cast<int>(reader.number<uint32_t>());
  greeting.channel = static_cast<int>(reader.number<uint32_t>());
  return reader.number<uint32_t>() == 0;
}

std::string encode_answer(const JobSecret& secret) {
  ByteWriter writer;
  writer.raw(kAnswerMagic);
  writer.number(secret.job);
  writer.raw(secret.answer);
  return writer.bytes();
}

bool is_answer(std::string_view bytes, const JobSecret& secret) { return bytes == encode_answer(secret); }

std::string encode(const ControlHeader& header, uint64_t job) {
  ByteWriter writer;
  writer.raw(kControlMagic);
  writer.number(job);
  // The kind shares a word with the length, which stays below 2^28.
  writer.number(static_cast<uint32_t>(header.kind) << 28 | header.bytes);
  return writer.bytes();
}

ControlHeader decode_control(std::string_view bytes, uint64_t job) {
  ByteReader reader(bytes, "a control header");
  expect_start(reader, kControlMagic, job, "control header");
  const auto word = reader.number<uint32_t>();
  const uint32_t kind = word >> 28;
  if (kind < 1 || kind > 5) refuse("control header");
  return {static_cast<ControlKind>(kind), word & (kMostControlBytes - 1)};
}

std::string encode(const SumHeader& header, uint64_t job) {
  ByteWriter writer;
  writer.raw(kSumMagic);
  writer.number(job);
  writer.number(static_cast<uint8_t>(header.phase));
  writer.number(static_cast<uint8_t>(header.wire));
  writer.number(static_cast<uint16_t>(header.lane));
  writer.number(static_cast<uint32_t>(header.from));
  writer.number(header.step);
  writer.number(header.sequence);
  writer.number(header.slice.begin);
  writer.number(header.slice.end);
  writer.number(header.flags);
  writer.number(header.blocks);
  writer.number(uint32_t{0});
  return writer.bytes();
}

SumHeader decode_sum(std::string_view bytes, uint64_t job) {
  ByteReader reader(bytes, "a header");
  expect_start(reader, kSumMagic, job, "header of a sum");
  SumHeader header;
  header.phase = static_cast<Phase>(reader.number<uint8_t>());
  header.wire = static_cast<WireType>(reader.number<uint8_t>());
  header.lane = reader.number<uint16_t>();
  header.from = static_cast<int>(reader.number<uint32_t>());
  header.step = reader.number<int64_t>();
  header.sequence = reader.number<uint64_t>();
  header.slice.begin = reader.number<int64_t>();
  header.slice.end = reader.number<int64_t>();
  header.flags = reader.number<uint32_t>();
  header.blocks = reader.number<uint32_t>();
  if (header.phase != Phase::kContribution && header.phase != Phase::kResult) refuse("header of a sum");
  return header;
}

std::string encode(const BlockHeader& header) {
  ByteWriter writer;
  writer.number(header.begin);
  writer.number(header.elements);
  writer.number(static_cast<uint16_t>(header.code.type));
  writer.number(static_cast<int16_t>(header.code.scale_exponent));
  return writer.bytes();
}

BlockHeader decode_block_header(std::string_view bytes) {
  ByteReader reader(bytes, "the header of a block");
  BlockHeader header;
  header.begin = reader.number<int64_t>();
  header.elements = reader.number<uint32_t>();
  const auto type = reader.number<uint16_t>();
  header.code = {static_cast<WireType>(type & 0xff), reader.number<int16_t>()};
  if (type > 0xff || !is_possible(header.code)) refuse("header of a block");
  return header;
}

std::string encode(const CollectiveHeader& header, uint64_t job) {
  ByteWriter writer;
  writer.raw(kCollectiveMagic);
  writer.number(job);
  writer.number(header.sequence);
  writer.number(header.bytes);
  writer.number(header.kind);
  return writer.bytes();
}

CollectiveHeader decode_collective(std::string_view bytes, uint64_t job) {
  ByteReader reader(bytes, "the header of a collective");
  expect_start(reader, kCollectiveMagic, job, "header of a collective");
  CollectiveHeader header;
  header.sequence = reader.number<uint64_t>();
  header.bytes = reader.number<uint64_t>();
  header.kind = reader.number<uint32_t>();
  return header;
}

}  // namespace bertft::native
