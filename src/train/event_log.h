// Scalars for TensorBoard: an event file that its stock reader shows. Source: the record format of TensorFlow's
// record_writer (length, masked CRC-32C of it, data, masked CRC-32C of them) around event messages.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace bertft {

class EventLog {
 public:
  // Begins a new file in `folder`, or goes on with `kept_file` there, cut to `kept_bytes`: what lies behind them
  // belongs to steps that are done again. Throws ResourceError when it cannot be written.
  EventLog(const std::string& folder, const std::string& kept_file, int64_t kept_bytes);

  void add(int64_t step, const std::vector<std::pair<std::string, double>>& scalars);

  // The name of the file in its folder, and its length, all of which has reached the disk then.
  const std::string& file_name() const { return name_; }
  int64_t sync();

 private:
  void write_record(const std::string& data);

  std::string name_;
  std::string path_;
  std::ofstream file_;
};

// CRC-32C (Castagnoli, as iSCSI), for tests.
uint32_t crc32c(const std::string& data);

}  // namespace bertft
