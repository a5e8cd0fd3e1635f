// The text of an expected error, for tests of messages.
#pragma once

#include <string>

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft::test {

// The message of the error of class E that `action` throws; fails the test when it throws nothing or something else.
template <typename E, typename Action>
std::string error_text(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  FAIL("no error was thrown");
  return "";
}

}  // namespace bertft::test
