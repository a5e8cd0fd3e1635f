// Signals as requests that the training loop takes up at the end of a step: save, or save and stop.
#pragma once

namespace bertft {

struct SignalRequests {
  bool wants_save = false;  // SIGUSR1: save the training state and go on
  bool wants_stop = false;  // SIGTERM, SIGINT, SIGUSR2: save it and end with exit code 7
  int stop_signal = 0;      // which one, for the log
};

// Catches the four signals while it lives; one per process. A second SIGINT ends the program at once, as people expect
// of a second Ctrl-C; the other signals may be repeated without effect. Afterwards SIGTERM and SIGINT end the program
// again, while SIGUSR1 and SIGUSR2 are ignored: what could be saved is saved, and a launcher hands a signal to each
// rank at its own time.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // What was asked for since the last call. A request to stop is returned by every later call, too.
  SignalRequests take();
  // Whether a request to stop is pending; for long phases that can be left early.
  static bool is_stop_requested();
};

}  // namespace bertft
