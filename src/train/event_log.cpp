#include "train/event_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/host.h"
#include "train/tensorboard_event.pb.h"

namespace bertft {
namespace {

constexpr std::array<uint32_t, 256> crc_table() {
  constexpr uint32_t kReversedPolynomial = 0x82F63B78u;
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? kReversedPolynomial : 0u);
    table[byte] = crc;
  }
  return table;
}

// Rotated and shifted, so that the checksum of data that holds checksums is not weak.
uint32_t masked_crc(const std::string& data) {
  const uint32_t crc = crc32c(data);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

template <typename T>
std::string little_endian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFF);
  return bytes;
}

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string new_name() { return fmt::format("events.out.tfevents.{:.0f}.{}.{}", wall_time(), host_name(), ::getpid()); }

std::string serialized(const tensorboard::Event& event) {
  std::string data;
  check(event.SerializeToString(&data), "an event can be serialized");
  return data;
}

}  // namespace

uint32_t crc32c(const std::string& data) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t crc = 0xFFFFFFFFu;
  for (const char c : data) crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xFFu] ^ (crc >> 8);
  return ~crc;
}

EventLog::EventLog(const std::string& folder, const std::string& kept_file, int64_t kept_bytes) {
  make_folders(folder);
  const bool goes_on = !kept_file.empty() && std::filesystem::exists(folder + "/" + kept_file);
  name_ = goes_on ? kept_file : new_name();
  path_ = folder + "/" + name_;
  cut_file(path_, goes_on ? kept_bytes : 0);
  file_.open(path_, std::ios::app | std::ios::binary);
  if (!file_) throw ResourceError("cannot open " + path_ + ". Check the folder and its permissions");
  if (goes_on) return;
  tensorboard::Event event;
  event.set_wall_time(wall_time());
  event.set_file_version("brain.Event:2");
  write_record(serialized(event));
}

void EventLog::add(int64_t step, const std::vector<std::pair<std::string, double>>& scalars) {
  tensorboard::Event event;
  event.set_wall_time(wall_time());
  event.set_step(step);
  for (const auto& [tag, number] : scalars) {
    auto* value = event.mutable_summary()->add_value();
    value->set_tag(tag);
    value->set_simple_value(static_cast<float>(number));
  }
  write_record(serialized(event));
}

void EventLog::write_record(const std::string& data) {
  const std::string length = little_endian(static_cast<uint64_t>(data.size()));
  file_ << length << little_endian(masked_crc(length)) << data << little_endian(masked_crc(data)) << std::flush;
  if (!file_) throw ResourceError("cannot write " + path_ + ". Check free space and permissions");
}

int64_t EventLog::sync() {
  sync_file(path_);
  return static_cast<int64_t>(std::filesystem::file_size(path_));
}

}  // namespace bertft
