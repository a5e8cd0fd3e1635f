#include "core/work_meter.h"

#include <atomic>

namespace bertft {
namespace {

std::atomic<const char*> current_phase = "working";
std::atomic<uint64_t> pieces_done = 0;

}  // namespace

WorkPhase::WorkPhase(const char* name) : before_(current_phase.exchange(name)) {}

WorkPhase::~WorkPhase() { current_phase = before_; }

void note_work_done() { pieces_done.fetch_add(1, std::memory_order_relaxed); }

WorkNow work_now() { return {current_phase.load(), pieces_done.load(std::memory_order_relaxed)}; }

}  // namespace bertft
