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
    : options_(std::move(options)),
      topology_(std::move(mesh.topology)),
      job_(mesh.secret.job),
      closed_strangers_(mesh.closed_strangers),
      interfaces_(std::move(mesh.interfaces)),
      sockets_(std::move(mesh.data)),
      control_(std::make_unique<ControlPlane>(topology_, job_, std::move(mesh.control), failure_)) {
  for (int i = 0; i < options_.lanes; ++i) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->index = i;
  }
}

void NativeTransport::open() {
  check(node_collectives_ == nullptr, "open() twice");
  const int channels = options_.lanes + 1;
  if (topology_.local_size() > 1) {
    memory_ = NodeMemory(topology_, channels, job_, *control_);
    failure_.on_set([this] { memory_.ring_own(topology_.local_rank); });
  }
  const NodeChannel::Context context{topology_, memory_, failure_, options_.wait_limit_s};
  node_collectives_ = std::make_unique<NodeCollectives>(context, options_.lanes, collective_record_);
  if (topology_.nodes() > 1 && topology_.local_rank == 0) {
    std::map<int, int> leaders;
    for (const auto& [link, socket] : sockets_) {
      if (link.channel == options_.lanes + 1) leaders[topology_.node_of[static_cast<size_t>(link.peer)]] = socket.get();
    }
    leaders_ = std::make_unique<LeaderLinks>(
        LeaderLinks::Context{topology_, job_, failure_, collective_record_, collective_meter_, options_.wait_limit_s},
        std::move(leaders));
  }
  if (topology_.local_size() == 1) return;
  for (auto& lane : lanes_) {
    lane->channel = std::make_unique<NodeChannel>(context, lane->index, lane->index, lane->record);
  }
}

// The control plane goes first: its thread must not ring bells that are gone.
NativeTransport::~NativeTransport() { control_.reset(); }

std::string NativeTransport::description() const {
  std::string text = fmt::format("native: {} rank(s) on {} node(s)", topology_.size, topology_.nodes());
  if (topology_.local_size() > 1) text += ", shared memory";
  if (topology_.nodes() == 1) return text;
  return text + fmt::format(", TCP with {} lane(s), {}, through {}", options_.lanes,
                            options_.is_hierarchical ? "hierarchical" : "flat", interfaces_);
}

const void* NativeTransport::attach(const GradientBuffer& buffer, WireMap map) {
  check(result_ == nullptr, "attach() twice");
  const std::vector<std::string> sizes = all_gather(fmt::format("{} bytes", buffer.bytes()));
  for (size_t rank = 0; rank < sizes.size(); ++rank) {
    if (sizes[rank] == sizes.front()) continue;
    throw CommError(fmt::format("{} has {} of gradients, {} {}: the ranks train different models",
                                topology_.name_of(static_cast<int>(rank)), sizes[rank], topology_.name_of(0),
                                sizes.front()));
  }
  map_ = std::move(map);
  element_bytes_ = buffer.element_bytes();
  elements_ = static_cast<int64_t>(buffer.bytes() / element_bytes_);
  local_buffers_.assign(static_cast<size_t>(topology_.local_size()), nullptr);
  local_buffers_[static_cast<size_t>(topology_.local_rank)] = static_cast<std::byte*>(buffer.data());
  result_ = static_cast<std::byte*>(buffer.data());
  if (topology_.local_size() > 1) share_buffers(buffer);
  for (auto& lane : lanes_) {
    if (topology_.nodes() > 1) make_exchange(*lane);
  }
  barrier();
  return result_;
}

void NativeTransport::share_buffers(const GradientBuffer& buffer) {
  check(static_cast<bool>(buffer.shared()), "gradients of several ranks on a node must lie in a shared segment");
  has_shared_result_ =
      topology_.local_size() >= kSharedResultFrom && (topology_.nodes() == 1 || options_.is_hierarchical);
  SharedMemory shared_result;
  if (has_shared_result_ && topology_.local_rank == 0) {
    shared_result = SharedMemory::create(buffer.bytes(), "bertft sums");
  }
  for (const int peer : topology_.locals()) {
    if (peer == topology_.rank) continue;
    control_->send_memory(peer, kGradientTag, buffer.shared());
    if (shared_result) control_->send_memory(peer, kResultTag, shared_result);
  }
  for (size_t local = 0; local < local_buffers_.size(); ++local) {
    if (static_cast<int>(local) == topology_.local_rank) continue;
    segments_.push_back(control_->take_memory(topology_.locals()[local], kGradientTag, buffer.bytes()));
    local_buffers_[local] = static_cast<std::byte*>(segments_.back().data());
  }
  if (!has_shared_result_) return;
  if (topology_.local_rank != 0) shared_result = control_->take_memory(topology_.leader(), kResultTag, buffer.bytes());
  segments_.push_back(shared_result);
  result_ = static_cast<std::byte*>(shared_result.data());
}

// Hierarchical: the ranks with this local rank, one of each node. Flat: all ranks.
void NativeTransport::make_exchange(Lane& lane) {
  if (options_.is_hierarchical && topology_.local_rank >= topology_.local_slices) return;
  std::vector<Participant> participants;
  for (const int rank : topology_.canonical) {
    const int node = topology_.node_of[static_cast<size_t>(rank)];
    const std::vector<int>& members = topology_.members[static_cast<size_t>(node)];
    const auto local = std::find(members.begin(), members.end(), rank) - members.begin();
    if (options_.is_hierarchical && local != topology_.local_rank) continue;
    const bool is_here = node == topology_.node;
    const int socket = is_here ? -1 : sockets_.at({rank, 1 + lane.index}).get();
    participants.push_back({rank, node, socket});
    const std::byte* buffer = is_here ? local_buffers_[static_cast<size_t>(local)] : nullptr;
    lane.in_memory.push_back(rank == topology_.rank && options_.is_hierarchical ? result_ : buffer);
  }
  lane.exchange =
      std::make_unique<SliceExchange>(SliceExchange::Context{topology_, map_, job_, lane.index, element_bytes_,
                                                             failure_, lane.record, lane.meter, options_.wait_limit_s},
                                      std::move(participants));
}

void NativeTransport::abort(const std::string& cause) noexcept {
  try {
    control_->abort(fmt::format("{}: {}", topology_.name_of(topology_.rank), cause));
  } catch (...) {  // no memory for a better text
    control_->abort(cause);
  }
}

TransportCounters NativeTransport::counters() const {
  TransportCounters result;
  for (const auto& lane : lanes_) {
    result.lanes.push_back(lane->meter.counters());
    result.shared_summed += lane->meter.summed_bytes();
    result.fp32_blocks += lane->meter.fp32_blocks();
  }
  result.collectives = collective_meter_.counters();
  result.control = control_->counters();
  result.closed_strangers = closed_strangers_;
  return result;
}

std::vector<TransportWait> NativeTransport::waits() const {
  std::vector<TransportWait> result;
  for (const auto& lane : lanes_) {
    if (auto wait = lane->record.get()) result.push_back(std::move(*wait));
  }
  if (auto wait = collective_record_.get()) result.push_back(std::move(*wait));
  return result;
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
