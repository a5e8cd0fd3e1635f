#include "guard.h"

#include <c10/util/Exception.h>

#include <new>
#include <string>

#include "core/error.h"
#include "core/log.h"

namespace bertft {
namespace {

int report(ExitCode code, const std::string& message) {
  log::error_of_rank(message);
  return static_cast<int>(code);
}

// LibTorch has no type of its own for a failed allocation on the CPU.
bool is_out_of_memory(const std::string& message) {
  return message.find("DefaultCPUAllocator") != std::string::npos || message.find("out of memory") != std::string::npos;
}

}  // namespace

int run_guarded(const std::function<int()>& body) {
  const std::string memory_remedy = "Lower train.micro_batch_tokens, eval.batch_tokens or model.max_length";
  try {
    return body();
  } catch (const ReportedElsewhere& failure) {
    log::error(failure.what());
    return static_cast<int>(failure.code());
  } catch (const Error& failure) {
    return report(failure.code(), failure.what());
  } catch (const std::bad_alloc&) {
    return report(ExitCode::kResource, "out of memory. " + memory_remedy);
  } catch (const c10::Error& failure) {
    const std::string message = failure.what_without_backtrace();
    if (is_out_of_memory(message))
      return report(ExitCode::kResource, "out of memory. " + memory_remedy + ": " + message);
    return report(ExitCode::kInternal, "internal error in a tensor operation: " + message);
  } catch (const std::exception& failure) {
    return report(ExitCode::kInternal, std::string("internal error: ") + failure.what());
  }
}

}  // namespace bertft
