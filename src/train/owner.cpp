#include "train/owner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "core/error.h"
#include "core/files.h"
#include "core/host.h"
#include "core/log.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 5;
constexpr int kWaitsForNewOwner = 20;  // while it takes the folder over there is no owner.json for a moment
constexpr auto kWaitForNewOwner = std::chrono::milliseconds(100);

struct Owner {
  std::string token;
  std::string host;
  std::string boot;
  std::string process_start;
  int64_t pid = 0;
};

std::string owner_text(const Owner& owner) {
  const nlohmann::ordered_json json = {{"host", owner.host},
                                       {"pid", owner.pid},
                                       {"boot_id", owner.boot},
                                       {"process_start", owner.process_start},
                                       {"token", owner.token}};
  return json.dump(2) + "\n";
}

// Nothing when there is no file; an owner without token when it cannot be understood.
std::optional<Owner> read_owner(const std::string& path) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const DataError&) {
    return std::nullopt;
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  Owner owner;
  if (!json.is_object()) return owner;
  owner.token = json.value("token", "");
  owner.host = json.value("host", "");
  owner.boot = json.value("boot_id", "");
  owner.process_start = json.value("process_start", "");
  owner.pid = json.value("pid", int64_t{0});
  return owner;
}

// Who took the folder over; nothing when nobody writes that down in time.
std::optional<Owner> new_owner(const std::string& path, const std::string& own_token) {
  for (int i = 0; i < kWaitsForNewOwner; ++i) {
    const std::optional<Owner> owner = read_owner(path);
    if (owner && !owner->token.empty() && owner->token != own_token) return owner;
    std::this_thread::sleep_for(kWaitForNewOwner);
  }
  return std::nullopt;
}

double modified_s(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return 0.0;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

// Seconds since the last refresh by the clock of whoever stores the files: hosts may disagree about the time.
double age_s(const std::string& path, const std::string& token) {
  const std::string probe = path + "." + token;
  std::ofstream(probe) << "now\n";
  const double age = modified_s(probe) - modified_s(path);
  ::unlink(probe.c_str());
  return age;
}

// Why the owner is gone; "" when it may be alive.
std::string gone_reason(const Owner& owner, double age, double stale_after_s) {
  if (owner.host == host_name() && !owner.boot.empty()) {
    if (owner.boot != boot_id()) return "this host was restarted since";
    if (start_of_process(owner.pid) != owner.process_start) return "its process is gone";
    return "";
  }
  return age > stale_after_s ? fmt::format("it was not heard of for {:.0f} s", age) : "";
}

bool create_exclusively(const std::string& path, const std::string& text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno == EEXIST) return false;
  if (descriptor < 0) throw ResourceError(fmt::format("cannot create {}: {}", path, std::strerror(errno)));
  const bool is_written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool is_synced = ::fsync(descriptor) == 0;
  ::close(descriptor);
  if (!is_written || !is_synced) throw ResourceError("cannot write " + path + ". Check free space");
  return true;
}

}  // namespace

RunOwner::RunOwner(const std::string& folder, const OwnerSettings& settings) : path_(folder + "/owner.json") {
  std::random_device device;
  token_ = fmt::format("{:08x}{:08x}", device(), device());
  take(settings);
  refresher_ = std::thread([this, every_s = settings.refresh_every_s] { refresh_until_stopped(every_s); });
}

void RunOwner::take(const OwnerSettings& settings) {
  const int64_t pid = ::getpid();
  const std::string text = owner_text({token_, host_name(), boot_id(), start_of_process(pid), pid});
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (create_exclusively(path_, text)) return;
    const std::optional<Owner> other = read_owner(path_);
    if (!other) continue;  // it was given free just now
    const double age = age_s(path_, token_);
    std::string reason = gone_reason(*other, age, settings.stale_after_s);
    if (reason.empty() && settings.takes_over) reason = "--take-over";
    if (reason.empty()) {
      throw ConfigError(fmt::format(
          "{}: another job writes to this folder: process {} on {}, last heard of {:.0f} s ago. Wait for it, name "
          "another output.dir, or pass --take-over when you know that it is gone",
          path_, other->pid, other->host.empty() ? "an unknown host" : other->host, std::max(age, 0.0)));
    }
    log::warn(fmt::format("{}: replacing the owner, process {} on {}: {}", path_, other->pid, other->host, reason));
    // Of several jobs that find a dead owner, the rename succeeds for one only.
    const std::string aside = path_ + "." + token_;
    std::error_code error;
    fs::rename(path_, aside, error);
    const std::optional<Owner> moved = error ? std::nullopt : read_owner(aside);
    if (moved && moved->token != other->token) fs::rename(aside, path_, error);  // a new owner's: give it back
    fs::remove(aside, error);
  }
  throw ConfigError(path_ + ": other jobs take this folder at the same time. Name another output.dir");
}

void RunOwner::refresh_until_stopped(double every_s) {
  std::unique_lock lock(mutex_);
  const auto pause = std::chrono::duration<double>(every_s);
  while (!stop_changed_.wait_for(lock, pause, [this] { return is_stopping_; })) refresh();
}

void RunOwner::refresh() {
  const std::optional<Owner> owner = read_owner(path_);
  std::error_code error;
  const bool is_removed = !owner && fs::status(path_, error).type() == fs::file_type::not_found;
  is_lost_ = is_lost_ || is_removed || (owner && owner->token != token_);
  if (is_lost_) return;
  ::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);
}

void RunOwner::require_owned() const {
  if (!is_lost_) return;
  const std::optional<Owner> owner = new_owner(path_, token_);
  throw ResourceError(
      fmt::format("{}: the folder was taken over by {}. This job stops; its last saved state stands", path_,
                  owner ? fmt::format("process {} on {}", owner->pid, owner->host) : "another job or removed"));
}

void RunOwner::confirm() {
  refresh();
  require_owned();
}

RunOwner::~RunOwner() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  stop_changed_.notify_all();
  if (refresher_.joinable()) refresher_.join();
  const std::optional<Owner> owner = read_owner(path_);
  if (owner && owner->token == token_) ::unlink(path_.c_str());
}

}  // namespace bertft
