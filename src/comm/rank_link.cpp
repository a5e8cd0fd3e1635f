#include "comm/rank_link.h"

#include <chrono>
#include <thread>
#include <utility>

namespace bertft {
namespace {

// A rank that only follows another's failure ends later, so that the launcher's exit code is that of the failure.
constexpr auto kFollow = std::chrono::milliseconds(300);

}  // namespace

RankLink::RankLink(World world, std::unique_ptr<Transport> transport, WatchSettings settings,
                   std::shared_ptr<NonFiniteLog> non_finite)
    : world_(std::move(world)),
      transport_(std::move(transport)),
      non_finite_(std::move(non_finite)),
      watch_(std::make_unique<RankWatch>(world_, *transport_, std::move(settings))) {}

RankLink::~RankLink() { abort("the job was given up"); }

void RankLink::open() {
  const RankWatch::Waiting here(*watch_);
  transport_->open();
}

std::vector<std::string> RankLink::all_gather(const std::string& mine) {
  const RankWatch::Waiting here(*watch_);
  return transport_->all_gather(mine);
}

void RankLink::abort(const std::string& cause) noexcept {
  if (is_over_.exchange(true)) return;
  const bool is_following = !transport_->failure().empty();
  transport_->abort(cause);
  try {
    watch_->stop();
    if (is_following) std::this_thread::sleep_for(kFollow);
  } catch (...) {  // the process ends anyway
  }
}

void RankLink::close() {
  {
    const RankWatch::Waiting here(*watch_);
    transport_->close();
  }
  watch_->stop();
  is_over_ = true;
}

}  // namespace bertft
