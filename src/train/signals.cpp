#include "train/signals.h"

#include <array>
#include <atomic>
#include <csignal>

#include "core/error.h"

namespace bertft {
namespace {

// Handlers may touch lock-free atomics only.
std::atomic<int> stop_signal = 0;
std::atomic<bool> save_requested = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr std::array<int, 3> kStopSignals = {SIGTERM, SIGINT, SIGUSR2};

void on_stop(int signal) {
  if (signal == SIGINT && stop_signal.load() == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
    return;
  }
  stop_signal = signal;
}

void on_save(int) { save_requested = true; }

void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  check(::sigaction(signal, &action, nullptr) == 0, "a signal handler could not be installed");
}

}  // namespace

SignalWatch::SignalWatch() {
  stop_signal = 0;
  save_requested = false;
  for (const int signal : kStopSignals) install(signal, on_stop);
  install(SIGUSR1, on_save);
}

SignalWatch::~SignalWatch() {
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, SIG_DFL);
  for (const int signal : {SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);
}

SignalRequests SignalWatch::take() {
  SignalRequests requests;
  requests.wants_save = save_requested.exchange(false);
  requests.stop_signal = stop_signal.load();
  requests.wants_stop = requests.stop_signal != 0;
  return requests;
}

bool SignalWatch::is_stop_requested() { return stop_signal.load() != 0; }

}  // namespace bertft
