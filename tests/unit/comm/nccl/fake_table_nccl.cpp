// The NCCL half of the fake.
#include <utility>

#include "tests/unit/comm/nccl/fake_call.h"
#include "tests/unit/comm/nccl/fake_table.h"

namespace bertft::test {

using nccl::Comm;
using nccl::Registration;
using nccl::Result;
using nccl::State;

bool FakeTable::is_busy(const Communicator& one) const {
  return !one.is_connected || !one.pending.empty() || std::chrono::steady_clock::now() < one.busy_until;
}

void FakeTable::make_busy(Communicator& one) {
  if (trouble_.most_delay_us == 0) return;
  one.busy_until = std::chrono::steady_clock::now() +
                   std::chrono::microseconds(random_() % static_cast<unsigned>(trouble_.most_delay_us));
}

// Under mutex_.
FakeTable::Communicator& FakeTable::communicator_at(Comm comm, const char* what, bool may_be_busy) {
  nccl_threads_.insert(std::this_thread::get_id());
  const auto found = communicators_.find(comm);
  if (found == communicators_.end()) {
    violate(std::string(what) + " on a communicator that is not there");
    static Communicator none = [] {
      Communicator one;
      one.meeting = std::make_shared<FakeMeeting>(0, 1);
      return one;
    }();
    return none;
  }
  if (!may_be_busy && is_busy(found->second)) violate(std::string(what) + " on a communicator that is busy");
  return found->second;
}

Result FakeTable::unique_id(nccl::UniqueId& id) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  id = cluster_.open();
  return {};
}

Result FakeTable::init_rank(Comm& comm, int size, const nccl::UniqueId& id, int rank) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  nccl_threads_.insert(std::this_thread::get_id());
  if (!trouble_.init_error.empty()) return {State::kFailed, trouble_.init_error};
  comm = reinterpret_cast<Comm>(++handles_);
  Communicator& one = communicators_[comm];
  one.meeting = cluster_.meeting(id, size);
  one.rank = rank;
  one.meeting->join(rank, rank_);
  make_busy(one);
  return {State::kInProgress, {}};
}

Result FakeTable::user_rank(Comm comm, int& rank) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  rank = communicator_at(comm, "user_rank").rank;
  return {};
}

Result FakeTable::count(Comm comm, int& size) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  size = communicator_at(comm, "count").meeting->size();
  return {};
}

Result FakeTable::async_error(Comm comm) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  Communicator& one = communicator_at(comm, "async_error", true);
  if (!one.error.empty()) return {State::kFailed, one.error};
  if (!one.is_connected) one.is_connected = one.meeting->is_complete();
  if (!one.is_connected || std::chrono::steady_clock::now() < one.busy_until) return {State::kInProgress, {}};
  put_on_streams(one);
  if (one.is_finalized && *one.on_streams > 0) return {State::kInProgress, {}};
  return {};
}

Result FakeTable::register_buffer(Comm comm, void* memory, size_t bytes, Registration& registration) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  check_memory(device_memory_, memory, bytes, "a registration");
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  ++counts_.registrations;
  registration = reinterpret_cast<Registration>(++handles_);
  communicator_at(comm, "register_buffer").registrations[registration] = memory;
  return {};
}

Result FakeTable::deregister_buffer(Comm comm, Registration registration) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  if (communicator_at(comm, "deregister_buffer").registrations.erase(registration) == 0) {
    violate("gives up memory that is not registered");
  }
  return {};
}

Result FakeTable::group_start() {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  if (std::exchange(is_in_group_, true)) violate("a group inside a group");
  return {};
}

// Nonblocking: what was launched may reach the streams later.
Result FakeTable::group_end() {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  if (!std::exchange(is_in_group_, false)) violate("the end of a group that did not begin");
  const std::lock_guard lock(mutex_);
  bool is_late = false;
  for (auto& [comm, launch] : group_) {
    Communicator& one = communicators_[comm];
    launch.never_ends = trouble_.error_at_operation >= 0 && counts_.operations >= trouble_.error_at_operation;
    ++counts_.operations;
    one.pending.push_back(launch);
  }
  for (auto& [comm, launch] : group_) {
    Communicator& one = communicators_[comm];
    make_busy(one);
    if (trouble_.most_delay_us == 0) put_on_streams(one);
    is_late = is_late || !one.pending.empty();
  }
  group_.clear();
  return {is_late ? State::kInProgress : State::kDone, {}};
}

void FakeTable::put_on_streams(Communicator& one) {
  for (const Launch& launch : one.pending) {
    const int64_t index = one.launched++;
    if (launch.never_ends) one.error = trouble_.error;
    ++*one.on_streams;
    // Of an operation that fails the rank's part never comes.
    FakeOperation operation = launch.operation;
    if (launch.never_ends) operation.n = -1;
    launch.stream->put([=, data = launch.data, meeting = one.meeting, rank = one.rank, left = one.on_streams] {
      meeting->take_part(rank, index, operation, data);
      --*left;
    });
  }
  one.pending.clear();
}

Result FakeTable::put(const FakeOperation& operation, void* data, Comm comm, nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  if (!is_in_group_) violate("an operation outside a group");
  std::shared_ptr<FakeStream> on = shared_stream(stream);
  std::shared_ptr<FakeMeeting> meeting;
  {
    const std::lock_guard lock(mutex_);
    Communicator& one = communicator_at(comm, "an operation");
    meeting = one.meeting;
    if (one.is_finalized) violate("an operation on a communicator that is finalized");
    group_.push_back({comm, {operation, data, std::move(on), false}});
  }
  check_memory(device_memory_, data, operation.bytes(meeting->size()), "an operation");
  cluster_.launched(rank_, *meeting, operation);
  return {};
}

Result FakeTable::all_reduce(void* in_place, int64_t n, nccl::Type type, nccl::Op op, Comm comm, nccl::Stream stream) {
  return put({FakeOperation::Kind::kAllReduce, n, type, op}, in_place, comm, stream);
}

Result FakeTable::reduce_scatter(void* data, int64_t out_n, nccl::Type type, Comm comm, nccl::Stream stream) {
  return put({FakeOperation::Kind::kReduceScatter, out_n, type}, data, comm, stream);
}

Result FakeTable::all_gather(void* data, int64_t in_n, nccl::Type type, Comm comm, nccl::Stream stream) {
  return put({FakeOperation::Kind::kAllGather, in_n, type}, data, comm, stream);
}

Result FakeTable::broadcast(void* data, int64_t n, nccl::Type type, int root, Comm comm, nccl::Stream stream) {
  return put({FakeOperation::Kind::kBroadcast, n, type, nccl::Op::kSum, root}, data, comm, stream);
}

Result FakeTable::finalize(Comm comm) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  Communicator& one = communicator_at(comm, "finalize");
  if (!one.registrations.empty()) violate("finalizes a communicator with registered memory");
  one.is_finalized = true;
  make_busy(one);
  return {State::kInProgress, {}};
}

Result FakeTable::destroy(Comm comm) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  if (!communicator_at(comm, "destroy").is_finalized) violate("destroys a communicator that is not finalized");
  communicators_.erase(comm);
  return {};
}

Result FakeTable::abort(Comm comm) {
  {
    const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
    const std::lock_guard lock(mutex_);
    ++counts_.aborts;
    Communicator& one = communicator_at(comm, "abort", true);
    one.meeting->leave(one.rank);
    communicators_.erase(comm);
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(trouble_.abort_takes_s));
  const std::lock_guard lock(mutex_);
  ++counts_.aborts_ended;
  return {};
}

}  // namespace bertft::test
