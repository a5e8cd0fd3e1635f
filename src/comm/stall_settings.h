// For how long ranks wait for others before something is said and done about it.
#pragma once

namespace bertft {

struct StallSettings {
  double warn_s = 5.0;     // 0: never
  double abort_s = 120.0;  // 0: never
  bool is_on() const { return warn_s > 0.0 || abort_s > 0.0; }
  double announce_every_s() const;  // at most once a second, often enough for the shorter limit
};

}  // namespace bertft
