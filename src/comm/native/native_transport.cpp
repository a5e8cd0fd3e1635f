#include "comm/native/native_transport.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "comm/native/native_impl.h"
#include "core/error.h"

namespace bertft {
namespace native {
namespace {

constexpr uint32_t kGradientTag = 2;  // of the segments that the ranks of a node exchange
constexpr uint32_t kResultTag = 3;
// From so many ranks of a node on they share one result instead of writing each sum into all buffers: n + 1 streams
// of memory instead of 2 n.
constexpr int kSharedResultFrom = 3;

}  // namespace

NativeTransport::NativeTransport(Mesh mesh, NativeOptions options)
    : ConnectedTransport(std::move(mesh)), options_(std::move(options)) {
  for (int i = 0; i < options_.lanes; ++i) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->index = i;
  }
}

void NativeTransport::open() {
  check(node_collectives_ == nullptr, "open() twice");
  const int channels = options_.lanes + 1;
  if (local_size() > 1) {
    memory_ = NodeMemory(topology(), channels, job(), control());
    failures().on_set([this] { memory_.ring_own(local_rank()); });
  }
  const NodeChannel::Context context{topology(), memory_, failures(), options_.wait_limit_s};
  node_collectives_ = std::make_unique<NodeCollectives>(context, options_.lanes, collective_record());
  if (nodes() > 1 && local_rank() == 0) {
    std::map<int, int> leaders;
    for (const auto& [link, socket] : data_sockets()) {
      if (link.channel == options_.lanes + 1)
        leaders[topology().node_of[static_cast<size_t>(link.peer)]] = socket.get();
    }
    leaders_ = std::make_unique<LeaderLinks>(LeaderLinks::Context{topology(), job(), failures(), collective_record(),
                                                                  collective_meter(), options_.wait_limit_s},
                                             std::move(leaders));
  }
  if (local_size() == 1) return;
  for (auto& lane : lanes_) {
    lane->channel = std::make_unique<NodeChannel>(context, lane->index, lane->index, lane->record);
  }
}

// The control plane goes first: its thread must not ring bells that are gone.
NativeTransport::~NativeTransport() { stop_control(); }

std::string NativeTransport::description() const {
  std::string text = fmt::format("native: {} rank(s) on {} node(s)", size(), nodes());
  if (local_size() > 1) text += ", shared memory";
  if (nodes() == 1) return text;
  return text + fmt::format(", TCP with {} lane(s), {}, through {}", options_.lanes,
                            options_.is_hierarchical ? "hierarchical" : "flat", interfaces());
}

const void* NativeTransport::attach(const GradientBuffer& buffer, WireMap map) {
  check(result_ == nullptr, "attach() twice");
  require_equal_buffers(buffer, topology(), [this](const std::string& mine) { return all_gather(mine); });
  gradients_ = AttachedGradients(buffer, std::move(map));
  local_buffers_.assign(static_cast<size_t>(local_size()), nullptr);
  local_buffers_[static_cast<size_t>(local_rank())] = static_cast<std::byte*>(buffer.data());
  result_ = static_cast<std::byte*>(buffer.data());
  if (local_size() > 1) share_buffers(buffer);
  for (auto& lane : lanes_) {
    if (nodes() > 1) make_exchange(*lane);
  }
  barrier();
  return result_;
}

void NativeTransport::share_buffers(const GradientBuffer& buffer) {
  check(static_cast<bool>(buffer.shared()), "gradients of several ranks on a node must lie in a shared segment");
  has_shared_result_ = local_size() >= kSharedResultFrom && (nodes() == 1 || options_.is_hierarchical);
  SharedMemory shared_result;
  if (has_shared_result_ && local_rank() == 0) {
    shared_result = SharedMemory::create(buffer.bytes(), "bertft sums");
  }
  for (const int peer : topology().locals()) {
    if (peer == rank()) continue;
    control().send_memory(peer, kGradientTag, buffer.shared());
    if (shared_result) control().send_memory(peer, kResultTag, shared_result);
  }
  for (size_t local = 0; local < local_buffers_.size(); ++local) {
    if (static_cast<int>(local) == local_rank()) continue;
    segments_.push_back(control().take_memory(topology().locals()[local], kGradientTag, buffer.bytes()));
    local_buffers_[local] = static_cast<std::byte*>(segments_.back().data());
  }
  if (!has_shared_result_) return;
  if (local_rank() != 0) shared_result = control().take_memory(topology().leader(), kResultTag, buffer.bytes());
  segments_.push_back(shared_result);
  result_ = static_cast<std::byte*>(shared_result.data());
}

// Hierarchical: the ranks with this local rank, one of each node. Flat: all ranks.
void NativeTransport::make_exchange(Lane& lane) {
  if (options_.is_hierarchical && local_rank() >= topology().local_slices) return;
  std::vector<Participant> participants;
  for (const int rank : topology().canonical) {
    const int node = topology().node_of[static_cast<size_t>(rank)];
    const std::vector<int>& members = topology().members[static_cast<size_t>(node)];
    const auto local = std::find(members.begin(), members.end(), rank) - members.begin();
    if (options_.is_hierarchical && local != local_rank()) continue;
    const bool is_here = node == topology().node;
    const int socket = is_here ? -1 : data_sockets().at({rank, 1 + lane.index}).get();
    participants.push_back({rank, node, socket});
    const std::byte* buffer = is_here ? local_buffers_[static_cast<size_t>(local)] : nullptr;
    lane.in_memory.push_back(rank == topology().rank && options_.is_hierarchical ? result_ : buffer);
  }
  lane.exchange = std::make_unique<SliceExchange>(
      SliceExchange::Context{topology(), gradients_.map(), job(), lane.index, gradients_.element_bytes(), failures(),
                             lane.record, lane.meter, options_.wait_limit_s},
      std::move(participants));
}

TransportCounters NativeTransport::counters() const {
  TransportCounters result = common_counters();
  for (const auto& lane : lanes_) {
    result.lanes.push_back(lane->meter.counters());
    result.shared_summed += lane->meter.summed_bytes();
    result.fp32_blocks += lane->meter.fp32_blocks();
  }
  return result;
}

std::vector<TransportWait> NativeTransport::waits() const {
  std::vector<const WaitRecord*> records;
  for (const auto& lane : lanes_) records.push_back(&lane->record);
  return waits_of(records);
}

}  // namespace native

std::string node_name() {
  std::array<char, 256> host = {};
  ::gethostname(host.data(), host.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  // Local sockets do not cross network namespaces: containers with networks of their own are nodes of their own.
  struct stat network = {};
  ::stat("/proc/self/ns/net", &network);
  return fmt::format("{} [{}.{}]", host.data(), boot.substr(0, 8), network.st_ino);
}

std::unique_ptr<Transport> connect_native_transport(Bootstrap& bootstrap, const NativeOptions& options) {
  native::MeshOptions mesh_options;
  mesh_options.lanes = options.lanes;
  mesh_options.is_hierarchical = options.is_hierarchical;
  mesh_options.interface = options.interface;
  mesh_options.port_base = options.port_base;
  mesh_options.connect_timeout_s = options.connect_timeout_s;
  mesh_options.connect_warn_s = options.connect_warn_s;
  const std::string node = options.node.empty() ? node_name() : options.node;
  return std::make_unique<native::NativeTransport>(native::connect_mesh(bootstrap, node, mesh_options), options);
}

std::unique_ptr<Transport> make_native_transport(Bootstrap& bootstrap, const NativeOptions& options) {
  std::unique_ptr<Transport> transport = connect_native_transport(bootstrap, options);
  transport->open();
  return transport;
}

}  // namespace bertft
