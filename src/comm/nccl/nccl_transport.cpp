#include "comm/nccl/nccl_transport.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "comm/native/attached_gradients.h"
#include "comm/nccl/launch_thread.h"
#include "core/error.h"

namespace bertft {
namespace nccl {
namespace {

constexpr std::string_view kDeviceMark = "found ";

// "found UUID" of this rank's device, or why there is none.
std::string device_text(Functions& functions, int device) {
  try {
    const int count = functions.device_count();
    if (device < 0 || device >= count) return fmt::format("device {} of {} is not there", device, count);
    functions.set_device(device);
    return std::string(kDeviceMark) + functions.device_identity(device);
  } catch (const std::exception& error) {
    return error.what();
  }
}

// All ranks read the same texts, so all of them throw or none.
void require_own_devices(const std::vector<std::string>& devices, const native::Topology& topology) {
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    if (!devices[rank].starts_with(kDeviceMark)) {
      throw CommError(
          fmt::format("{} has no device for comm.transport nccl: {}. Start as many ranks on each node as it "
                      "has devices (CUDA_VISIBLE_DEVICES), or set comm.transport: native",
                      topology.name_of(static_cast<int>(rank)), devices[rank]));
    }
    for (size_t other = 0; other < rank; ++other) {
      if (devices[other] != devices[rank]) continue;
      throw CommError(
          fmt::format("{} and {} have the same device ({}), but NCCL wants one for each rank. Start as many "
                      "ranks on each node as it has devices (mpirun --map-by ppr:N:node), give each another "
                      "one (CUDA_VISIBLE_DEVICES), or set comm.transport: native",
                      topology.name_of(static_cast<int>(other)), topology.name_of(static_cast<int>(rank)),
                      devices[rank].substr(kDeviceMark.size())));
    }
  }
}

bool has_equal_nodes(const native::Topology& topology) {
  for (const std::vector<int>& members : topology.members) {
    if (members.size() != topology.members.front().size()) return false;
  }
  return true;
}

class NcclTransport final : public Transport {
 public:
  NcclTransport(std::shared_ptr<Functions> functions, std::shared_ptr<Transport> control, native::Topology topology,
                const NcclOptions& options)
      : control_(std::move(control)),
        topology_(std::move(topology)),
        lanes_(options.lanes),
        is_hierarchical_(options.is_hierarchical && topology_.nodes() > 1 && topology_.local_size() > 1 &&
                         has_equal_nodes(topology_)),
        version_(functions->version()) {
    LaunchSettings settings;
    settings.device = options.device;
    settings.abort_limit_s = options.abort_limit_s;
    settings.communicators = {lanes_, is_hierarchical_, options.connect_timeout_s, {}};
    settings.sums = {lanes_,
                     is_hierarchical_,
                     options.units,
                     options.has_16_bit_wire,
                     options.compute_stream,
                     options.on_non_finite};
    launches_ = std::make_shared<LaunchThread>(std::move(functions), control_, topology_, std::move(settings));
    launches_->start();
  }
  ~NcclTransport() override { launches_->stop(); }
  NcclTransport(const NcclTransport&) = delete;
  NcclTransport& operator=(const NcclTransport&) = delete;

  void connect() { launches_->connect(control_->all_gather(launches_->opened_ids())); }

  int rank() const override { return topology_.rank; }
  int size() const override { return topology_.size; }
  int local_rank() const override { return topology_.local_rank; }
  int local_size() const override { return topology_.local_size(); }
  int node() const override { return topology_.node; }
  int nodes() const override { return topology_.nodes(); }
  std::string description() const override {
    return fmt::format("nccl {}: {} rank(s) on {} node(s), {} lane(s), {}; control over {}", version_, topology_.size,
                       topology_.nodes(), lanes_, is_hierarchical_ ? "hierarchical" : "flat", control_->description());
  }

  const void* attach(const GradientBuffer& buffer, WireMap map) override;

  int lanes() const override { return lanes_; }
  uint32_t all_reduce(int lane, const ReduceJob& job) override {
    post(lane, job);
    return wait_posted(lane);
  }
  bool has_inline_sums() const override { return true; }
  void post(int lane, const ReduceJob& job) override { launches_->post(lane, job); }
  bool progress(int lane) override { return launches_->is_done(lane); }
  uint32_t wait_posted(int lane) override { return launches_->wait(lane); }

  void broadcast(void* data, size_t bytes, int root) override { control_->broadcast(data, bytes, root); }
  std::vector<std::string> all_gather(const std::string& mine) override { return control_->all_gather(mine); }
  void barrier() override { control_->barrier(); }
  SharedMemory share_words(size_t bytes) override { return control_->share_words(bytes); }
  void send(int to, std::string_view bytes) override { control_->send(to, bytes); }
  std::optional<ControlMessage> receive(double timeout_s) override { return control_->receive(timeout_s); }
  void announce(std::string_view status) override { control_->announce(status); }
  std::vector<ControlMessage> take_announced() override { return control_->take_announced(); }

  void abort(const std::string& cause) noexcept override {
    control_->abort(cause);
    launches_->wake();
  }
  std::string failure() const override { return control_->failure(); }
  void close() override;

  TransportCounters counters() const override {
    TransportCounters counters = control_->counters();
    counters.lanes = launches_->sums().counters();
    counters.fp32_blocks = launches_->sums().fallbacks();
    return counters;
  }
  std::vector<TransportWait> waits() const override {
    std::vector<TransportWait> waits = launches_->waits();
    for (TransportWait& wait : control_->waits()) {
      waits.push_back(std::move(wait));
    }
    return waits;
  }

 private:
  const std::shared_ptr<Transport> control_;
  const native::Topology topology_;
  const int lanes_;
  const bool is_hierarchical_;
  const std::string version_;
  std::shared_ptr<LaunchThread> launches_;
};

const void* NcclTransport::attach(const GradientBuffer& buffer, WireMap map) {
  native::require_equal_buffers(buffer, topology_,
                                [this](const std::string& mine) { return control_->all_gather(mine); });
  if (buffer.element_bytes() != sizeof(float)) {
    throw CommError("comm.transport nccl sums fp32 gradients only. Set precision to another value than fp64");
  }
  launches_->attach(static_cast<float*>(buffer.data()), static_cast<int64_t>(buffer.bytes() / sizeof(float)),
                    std::move(map));
  barrier();
  return buffer.data();
}

// All ranks' sums are done before the first communicator ends.
void NcclTransport::close() {
  control_->barrier();
  launches_->finish();
  control_->close();
}

}  // namespace
}  // namespace nccl

std::unique_ptr<Transport> make_nccl_transport(Bootstrap& bootstrap, std::shared_ptr<nccl::Functions> functions,
                                               const NcclOptions& options) {
  const std::string node = options.control.node.empty() ? node_name() : options.control.node;
  const native::Topology topology = native::make_topology(bootstrap.rank(), bootstrap.all_gather(node));
  nccl::require_own_devices(bootstrap.all_gather(nccl::device_text(*functions, options.device)), topology);
  NativeOptions control = options.control;
  control.lanes = 1;
  control.is_hierarchical = true;
  std::shared_ptr<Transport> native = make_native_transport(bootstrap, control);
  auto transport = std::make_unique<nccl::NcclTransport>(std::move(functions), native, topology, options);
  try {
    transport->connect();
  } catch (const std::exception& error) {
    transport->abort(error.what());
    throw;
  }
  return transport;
}

}  // namespace bertft
