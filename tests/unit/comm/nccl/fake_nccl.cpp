#include "tests/unit/comm/nccl/fake_nccl.h"

#include <cstring>

#include "tests/unit/comm/nccl/fake_table.h"

namespace bertft::test {

FakeCluster::FakeCluster(std::vector<FakeTrouble> troubles) : troubles_(std::move(troubles)) {
  for (int rank = 0; rank < ranks(); ++rank) tables_.push_back(std::make_shared<FakeTable>(*this, rank));
}

FakeCluster::~FakeCluster() = default;

std::shared_ptr<nccl::Functions> FakeCluster::functions(int rank) { return tables_[static_cast<size_t>(rank)]; }

FakeCounts FakeCluster::counts(int rank) const { return tables_[static_cast<size_t>(rank)]->counts(); }

void FakeCluster::compute(int rank, std::function<void()> work) {
  tables_[static_cast<size_t>(rank)]->compute(std::move(work));
}

std::vector<std::string> FakeCluster::violations() const {
  const std::lock_guard lock(mutex_);
  return violations_;
}

void FakeCluster::violate(const std::string& text) {
  const std::lock_guard lock(mutex_);
  violations_.push_back(text);
}

nccl::UniqueId FakeCluster::open() {
  const std::lock_guard lock(mutex_);
  nccl::UniqueId id;
  const int number = ++opened_;
  std::memcpy(id.bytes.data(), &number, sizeof number);
  return id;
}

std::shared_ptr<FakeMeeting> FakeCluster::meeting(const nccl::UniqueId& id, int size) {
  const std::lock_guard lock(mutex_);
  int number = 0;
  std::memcpy(&number, id.bytes.data(), sizeof number);
  std::shared_ptr<FakeMeeting>& found = meetings_[number];
  if (!found) found = std::make_shared<FakeMeeting>(number, size);
  return found;
}

void FakeCluster::launched(int rank, const FakeMeeting& meeting, const FakeOperation& operation) {
  const std::vector<int> members = meeting.members();
  const std::string text = "communicator " + std::to_string(meeting.number()) + ", " + operation.text();
  std::string fault;
  {
    const std::lock_guard lock(mutex_);
    for (const int peer : members) {
      if (peer == rank) continue;
      std::vector<std::string>& mine = sequences_[{rank, peer}];
      const std::vector<std::string>& theirs = sequences_[{peer, rank}];
      mine.push_back(text);
      if (theirs.size() < mine.size() || theirs[mine.size() - 1] == text) continue;
      fault = "rank " + std::to_string(rank) + " launches " + text + ", rank " + std::to_string(peer) + " launched " +
              theirs[mine.size() - 1] + " in its place";
    }
  }
  if (!fault.empty()) violate(fault);
}

}  // namespace bertft::test
