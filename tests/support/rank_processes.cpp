#include "tests/support/rank_processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <thread>

#include "core/error.h"

namespace bertft::test {
namespace {

using Clock = std::chrono::steady_clock;

int g_mark_descriptor = -1;  // in a rank's process

bool write_all(int descriptor, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::send(descriptor, at, bytes, MSG_NOSIGNAL);
    if (done <= 0) return false;
    at += done;
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

bool read_all(int descriptor, void* data, size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::recv(descriptor, at, bytes, 0);
    if (done <= 0) return false;
    at += done;
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

bool write_text(int descriptor, const std::string& text) {
  const uint64_t size = text.size();
  return write_all(descriptor, &size, sizeof size) && write_all(descriptor, text.data(), text.size());
}

bool read_text(int descriptor, std::string& text) {
  uint64_t size = 0;
  if (!read_all(descriptor, &size, sizeof size)) return false;
  text.resize(size);
  return read_all(descriptor, text.data(), text.size());
}

class SocketBootstrap final : public Bootstrap {
 public:
  SocketBootstrap(int descriptor, int rank, int size) : descriptor_(descriptor), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::vector<std::string> all_gather(const std::string& mine) override {
    std::vector<std::string> all(static_cast<size_t>(size_));
    bool is_good = write_text(descriptor_, mine);
    for (std::string& text : all) {
      is_good = is_good && read_text(descriptor_, text);
    }
    if (!is_good) throw CommError("bootstrap: a rank has ended");
    return all;
  }
  void barrier() override { all_gather(""); }

 private:
  const int descriptor_, rank_, size_;
};

struct Pair {
  int parent = -1, child = -1;
};

Pair make_pair() {
  int both[2] = {};
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0, "no socket pair for a test");
  return {both[0], both[1]};
}

}  // namespace

struct RankProcesses::State {
  std::vector<pid_t> pids;
  std::vector<int> hub;    // bootstrap
  std::vector<int> words;  // marks, then the text at the end
  std::thread thread;      // serves the bootstrap
  Clock::time_point start = Clock::now();

  void serve() const {
    for (;;) {
      std::vector<std::string> all(hub.size());
      for (size_t rank = 0; rank < hub.size(); ++rank) {
        if (!read_text(hub[rank], all[rank])) return break_up();
      }
      for (const int descriptor : hub) {
        for (const std::string& text : all) {
          if (!write_text(descriptor, text)) return break_up();
        }
      }
    }
  }
  void break_up() const {
    for (const int descriptor : hub) {
      ::shutdown(descriptor, SHUT_RDWR);
    }
  }
};

RankProcesses::RankProcesses(int ranks, const std::function<std::string(Bootstrap&)>& body)
    : state_(std::make_unique<State>()) {
  std::vector<Pair> hubs, words;
  for (int rank = 0; rank < ranks; ++rank) {
    hubs.push_back(make_pair());
    words.push_back(make_pair());
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = ::fork();
    check(pid >= 0, "no process for a test");
    if (pid > 0) {
      state_->pids.push_back(pid);
      continue;
    }
    for (int other = 0; other < ranks; ++other) {
      const auto at = static_cast<size_t>(other);
      ::close(hubs[at].parent);
      ::close(words[at].parent);
      if (other == rank) continue;
      ::close(hubs[at].child);
      ::close(words[at].child);
    }
    g_mark_descriptor = words[static_cast<size_t>(rank)].child;
    SocketBootstrap bootstrap(hubs[static_cast<size_t>(rank)].child, rank, ranks);
    std::string text;
    int code = 0;
    try {
      text = body(bootstrap);
    } catch (const std::exception& error) {
      text = std::string("error: ") + error.what();
      code = 4;
    }
    write_all(g_mark_descriptor, text.data(), text.size());
    ::_exit(code);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<size_t>(rank);
    ::close(hubs[at].child);
    ::close(words[at].child);
    state_->hub.push_back(hubs[at].parent);
    state_->words.push_back(words[at].parent);
  }
  state_->thread = std::thread([state = state_.get()] { state->serve(); });
}

RankProcesses::~RankProcesses() {
  for (const pid_t pid : state_->pids) {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  state_->break_up();
  state_->thread.join();
  for (size_t rank = 0; rank < state_->hub.size(); ++rank) {
    ::close(state_->hub[rank]);
    ::close(state_->words[rank]);
  }
}

pid_t RankProcesses::pid(int rank) const { return state_->pids[static_cast<size_t>(rank)]; }

void RankProcesses::wait_for_mark(int rank) {
  char mark = 0;
  check(read_all(state_->words[static_cast<size_t>(rank)], &mark, 1) && mark == '!', "a rank ended before its mark");
}

void set_mark() { write_all(g_mark_descriptor, "!", 1); }

std::vector<RankEnd> RankProcesses::wait(double limit_s) {
  std::vector<RankEnd> ends(state_->pids.size());
  size_t left = ends.size();
  while (left > 0) {
    const double now = std::chrono::duration<double>(Clock::now() - state_->start).count();
    for (size_t rank = 0; rank < ends.size(); ++rank) {
      pid_t& pid = state_->pids[rank];
      if (pid <= 0) continue;
      if (now > limit_s) ::kill(pid, SIGKILL);
      int status = 0;
      if (::waitpid(pid, &status, now > limit_s ? 0 : WNOHANG) != pid) continue;
      pid = 0;
      left -= 1;
      ends[rank].after_s = now;
      if (WIFEXITED(status)) ends[rank].exit_code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) ends[rank].signal = WTERMSIG(status);
      char buffer[4096];
      ssize_t got = 0;
      while ((got = ::recv(state_->words[rank], buffer, sizeof buffer, 0)) > 0) {
        ends[rank].text.append(buffer, static_cast<size_t>(got));
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return ends;
}

}  // namespace bertft::test
