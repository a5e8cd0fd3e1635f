// The checksum of event files is CRC-32C, and a log that goes on keeps what stood before the cut.
#include "train/event_log.h"

#include <filesystem>

#include "core/files.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using test::TempFolder;

TEST_CASE("CRC-32C of published vectors") {
  // RFC 3720, B.4: 32 bytes of zeros, of ones, ascending; and the check value of the catalogue of CRCs.
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAu);
  CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43u);
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending += c;
  CHECK(crc32c(ascending) == 0x46DD794Eu);
  CHECK(crc32c("123456789") == 0xE3069283u);
}

TEST_CASE("a log that goes on is cut back first") {
  const TempFolder folder;
  std::string name;
  int64_t bytes = 0;
  {
    EventLog log(folder.path(), "", 0);
    log.add(1, {{"train/loss", 0.5}});
    name = log.file_name();
    bytes = log.sync();
    log.add(2, {{"train/loss", 0.4}});
  }
  const std::string whole = read_file(folder / name);
  REQUIRE(static_cast<int64_t>(whole.size()) > bytes);
  {
    EventLog log(folder.path(), name, bytes);
    CHECK(log.file_name() == name);
    CHECK(log.sync() == bytes);
    log.add(2, {{"train/loss", 0.4}});
    CHECK(log.sync() == static_cast<int64_t>(whole.size()));
  }
  CHECK(read_file(folder / name).substr(0, static_cast<size_t>(bytes)) == whole.substr(0, static_cast<size_t>(bytes)));
  EventLog other(folder.path(), "events.gone", 10);
  CHECK(other.file_name() != "events.gone");
}

}  // namespace
}  // namespace bertft
