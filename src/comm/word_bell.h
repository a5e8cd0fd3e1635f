// A word in memory that ranks of a node share, as a bell: ringing changes it and wakes whoever sleeps at it. Who waits
// reads the word, looks at what it waits for, and sleeps while the word is still the same; so no ring is slept through.
#pragma once

#include <cstdint>

namespace bertft {

uint32_t read_bell(const uint32_t* bell);
void ring_bell(uint32_t* bell);
// Returns when the bell is not `seen` any more, and sometimes before.
void sleep_at_bell(uint32_t* bell, uint32_t seen);

}  // namespace bertft
