// A disk that is full when a training state is saved ends the run with one clear error; what was saved before stands,
// and the run goes on from there to the same bits.
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "tests/support/test.h"
#include "tests/system/long_job.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;

// A small file system in memory of its own.
class SmallDisk {
 public:
  // Null, and the test says SKIPPED, where mounting is not allowed.
  static std::unique_ptr<SmallDisk> mount(const std::string& folder, const std::string& size) {
    fs::create_directories(folder);
    if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, ("size=" + size).c_str()) == 0) {
      return std::unique_ptr<SmallDisk>(new SmallDisk(folder));
    }
    std::cout << "SKIPPED: cannot mount a tmpfs: " << std::strerror(errno) << "\n";
    return nullptr;
  }
  ~SmallDisk() { ::umount2(folder_.c_str(), MNT_DETACH); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // Writes until nothing fits any more.
  void fill() const {
    std::ofstream file(ballast(), std::ios::app);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void empty() const { fs::remove(ballast()); }

 private:
  explicit SmallDisk(std::string folder) : folder_(std::move(folder)) {}
  std::string ballast() const { return folder_ + "/ballast"; }

  std::string folder_;
};

TEST_CASE("a disk that is full during a save ends the run with exit 6, and the run goes on when there is space") {
  const LongJob job(60);
  const auto disk = SmallDisk::mount(job.path("disk"), "16m");
  if (!disk) return;
  REQUIRE(job.train("whole").exit_code == 0);

  const std::string saved = job.path("disk/run/checkpoints/step_00000003");
  RunningProgram program(binary_path(), {.arguments = job.arguments("disk/run")});
  while (program.is_running() && !fs::exists(saved)) ::usleep(1000);
  disk->fill();
  const RunResult full = program.wait();
  CAPTURE(full.err);
  REQUIRE(full.exit_code == 6);
  CHECK_THAT(full.err, Catch::Contains("No space left on device") && Catch::Contains("disk/run/") &&
                           Catch::Contains("Check free space"));
  CHECK_FALSE(fs::exists(job.path("disk/run/results.json")));

  disk->empty();
  const RunResult rest = job.train("disk/run", {"--resume"});
  CAPTURE(rest.err);
  REQUIRE(rest.exit_code == 0);
  CHECK(comparable(job, "disk/run") == comparable(job, "whole"));
}

}  // namespace
}  // namespace bertft::test
