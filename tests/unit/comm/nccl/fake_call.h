// Notices two threads inside one rank's table at once.
#pragma once

#include <atomic>
#include <functional>
#include <string>

namespace bertft::test {

class FakeCall {
 public:
  FakeCall(std::atomic<bool>& is_in_call, const std::function<void(const std::string&)>& violate)
      : is_in_call_(is_in_call) {
    if (is_in_call_.exchange(true)) violate("two threads call at once");
  }
  ~FakeCall() { is_in_call_ = false; }
  FakeCall(const FakeCall&) = delete;
  FakeCall& operator=(const FakeCall&) = delete;

 private:
  std::atomic<bool>& is_in_call_;
};

}  // namespace bertft::test
