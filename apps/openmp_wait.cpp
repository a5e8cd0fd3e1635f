#include "openmp_wait.h"

#include <unistd.h>

#include <cstdlib>

namespace bertft {

void restart_with_short_openmp_wait(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "1000", 1);
  ::execv("/proc/self/exe", argv);
}

}  // namespace bertft
