#include "comm/start_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/timer.h"

namespace bertft {
namespace {

constexpr auto kLook = std::chrono::milliseconds(200);
constexpr double kBetweenLooks = 5.0;  // s
constexpr double kMostRest = 1.0;      // s: when it took longer, this process was stopped itself

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What the launcher told a process, from its environment; "" when it told nothing.
std::string rank_in(const std::string& environment) {
  const std::string all = '\0' + environment;
  for (const std::string name : {"OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID="}) {
    const size_t at = all.find('\0' + name);
    if (at == std::string::npos) continue;
    const size_t begin = at + 1 + name.size();
    return all.substr(begin, all.find('\0', begin) - begin);
  }
  return "";
}

// The state and the parent in /proc/PID/stat, which stand behind the name in brackets.
struct ProcessState {
  char state = '?';
  pid_t parent = 0;
};
ProcessState state_in(const std::string& stat) {
  ProcessState result;
  const size_t at = stat.rfind(") ");
  if (at == std::string::npos || at + 4 >= stat.size()) return result;
  result.state = stat[at + 2];
  result.parent = static_cast<pid_t>(std::atoi(stat.c_str() + at + 4));
  return result;
}

}  // namespace

std::vector<std::string> stopped_children(pid_t parent) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string id = entry.path().filename().string();
    if (id.find_first_not_of("0123456789") != std::string::npos) continue;
    const ProcessState process = state_in(content(entry.path() / "stat"));
    if (process.parent != parent || (process.state != 'T' && process.state != 't')) continue;
    const std::string rank = rank_in(content(entry.path() / "environ"));
    found.push_back(rank.empty() ? "process " + id : fmt::format("rank {} (process {})", rank, id));
  }
  return found;
}

StartWatch::Call::Call(StartWatch& of, const char* what, Kind kind) : of_(of) {
  const std::lock_guard lock(of_.mutex_);
  of_.what_ = what;
  of_.kind_ = kind;
  of_.changed_.notify_all();
}

StartWatch::Call::~Call() {
  const std::lock_guard lock(of_.mutex_);
  of_.what_ = nullptr;
  of_.changed_.notify_all();
}

StartWatch::StartWatch(const StallSettings& limits) : limits_(limits), thread_([this] { run(); }) {}

StartWatch::~StartWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StartWatch::set_limits(const StallSettings& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

void StartWatch::run() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    changed_.wait(lock, [this] { return is_stopping_ || what_ != nullptr; });
    double waited_s = 0.0, looked_s = 0.0;
    while (!is_stopping_ && what_ != nullptr) {
      const Timer rested;
      if (changed_.wait_for(lock, kLook) == std::cv_status::no_timeout) break;  // another call
      waited_s += std::min(rested.seconds(), kMostRest);
      const bool is_over = limits_.abort_s > 0.0 && waited_s >= limits_.abort_s;
      const bool is_due = is_over ? waited_s - looked_s >= kBetweenLooks || looked_s < limits_.abort_s
                                  : limits_.warn_s > 0.0 && waited_s - looked_s >= limits_.warn_s;
      if (!is_due) continue;
      looked_s = waited_s;
      look(what_, kind_, is_over, waited_s);
    }
  }
}

// Not said by every rank of a large job: by those that see the reason, those that end, and the first two.
void StartWatch::look(const std::string& what, Kind kind, bool is_over, double waited_s) {
  const std::vector<std::string> stopped = stopped_children(::getppid());
  const bool is_end = is_over && (kind == Kind::kShort || !stopped.empty());
  if (stopped.empty() && kind == Kind::kLong) return;
  const std::string own = rank_in(content("/proc/self/environ"));
  if (stopped.empty() && !is_end && own != "0" && own != "1") return;
  std::string text = fmt::format("the ranks have not come together for {:.0f} s ({}): ", waited_s, what);
  text += stopped.empty() ? "no process of this node is stopped; look at the other nodes, and whether every rank was "
                            "started"
                          : join(stopped, ", ") + (stopped.size() == 1 ? " is" : " are") +
                                " stopped (SIGSTOP or a debugger). SIGCONT lets it go on";
  if (!is_end) return log::warn_of_rank(text);
  log::error_of_rank(text);
  ::_exit(static_cast<int>(ExitCode::kComm));
}

}  // namespace bertft
