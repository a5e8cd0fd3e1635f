#include "comm/decentral/agree_exchange.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "comm/decentral/message.h"
#include "core/error.h"

namespace bertft {
namespace {

// a is nearer to -infinity than b, where -0 lies below 0.
bool is_below(double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

}  // namespace

Agreement combine(const Agreement& a, const Agreement& b) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Agreement both;
  both.flags = a.flags | b.flags;
  both.min = std::isnan(a.min) || std::isnan(b.min) ? nan : is_below(a.min, b.min) ? a.min : b.min;
  both.max = std::isnan(a.max) || std::isnan(b.max) ? nan : is_below(a.max, b.max) ? b.max : a.max;
  return both;
}

AgreeExchange::AgreeExchange(uint64_t job, int self, int size) : job_(job), pattern_(self, size) {
  current_.resize(static_cast<size_t>(pattern_.phases()));
  waiting_.resize(current_.size());
}

void AgreeExchange::start(const Agreement& mine) {
  check(!under_way_, "one agreement at a time");
  under_way_ = true;
  phase_ = 0;
  combined_ = combine(mine, mine);  // a NaN becomes the quiet one here, too
  send_phase();
  advance();
}

void AgreeExchange::receive(int from, std::string_view bytes) {
  const DecentralHeader header = decode_header(bytes);
  const auto refuse = [&](const char* why) {
    throw CommError(
        fmt::format("rank {} sent an agreement message of call {}, phase {} that {} (rank {} is at call {})", from,
                    header.step, header.phase, why, pattern_.self(), call_));
  };
  if (header.kind != DecentralKind::kAgreement) refuse("is of another kind");
  if (header.job != job_) refuse("belongs to another job");
  if (header.phase >= pattern_.phases() || from != pattern_.receive_from(header.phase)) {
    refuse("is not that rank's to send");
  }
  if (header.round != 0 || header.step < call_ || header.step > call_ + 1) refuse("comes too late or too early");
  auto& slots = header.step == call_ ? current_ : waiting_;
  auto& slot = slots[static_cast<size_t>(header.phase)];
  if (slot) refuse("was sent before");
  slot = decode_agreement(bytes);
  advance();
}

void AgreeExchange::send_phase() {
  if (phase_ == pattern_.phases()) return;
  DecentralHeader header;
  header.job = job_;
  header.step = call_;
  header.phase = phase_;
  header.kind = DecentralKind::kAgreement;
  outbox_.push_back({pattern_.send_to(phase_), encode(header, combined_)});
}

void AgreeExchange::advance() {
  while (under_way_ && phase_ < pattern_.phases() && current_[static_cast<size_t>(phase_)]) {
    combined_ = combine(combined_, *current_[static_cast<size_t>(phase_)]);
    ++phase_;
    send_phase();
  }
}

std::vector<ControlSend> AgreeExchange::take_messages() { return std::exchange(outbox_, {}); }

std::optional<Agreement> AgreeExchange::result() {
  if (!under_way_ || phase_ < pattern_.phases()) return std::nullopt;
  under_way_ = false;
  ++call_;
  for (auto& slot : current_) slot.reset();
  std::swap(current_, waiting_);
  return combined_;
}

}  // namespace bertft
