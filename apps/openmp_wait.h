// How long OpenMP threads that wait may spin before they sleep.
#pragma once

namespace bertft {

// libgomp lets a waiting thread spin for milliseconds. On a machine that has anything else to do, that takes the
// processor from the very thread that is waited for: measured, a training step becomes ten times slower, while on a
// quiet machine short spinning costs nothing. libgomp reads GOMP_SPINCOUNT when it is loaded, before any code of ours
// runs, so this sets it and starts the program again in the same process (0.2 s). Does nothing where the user has set
// GOMP_SPINCOUNT or OMP_WAIT_POLICY, or when starting again fails.
void restart_with_short_openmp_wait(char** argv);

}  // namespace bertft
