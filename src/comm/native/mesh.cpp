#include "comm/native/mesh.h"

#include <fmt/format.h>

#include "comm/native/bytes.h"
#include "comm/native/greeter.h"
#include "comm/native/interfaces.h"
#include "comm/native/sockets.h"
#include "core/error.h"

namespace bertft::native {
namespace {

// What a rank tells all others before anything is connected.
struct Card {
  std::string node;
  std::string secret;  // of rank 0; it travels through the launcher only
};

std::string encode(const Card& card) {
  ByteWriter writer;
  writer.text(card.node);
  writer.text(card.secret);
  return writer.bytes();
}

Card decode_card(const std::string& bytes) {
  ByteReader reader(bytes, "the card");
  Card card{reader.text(), reader.text()};
  reader.expect_end();
  return card;
}

// Where a rank listens, or why it cannot.
struct Place {
  std::string fault;
  std::vector<std::string> addresses;
  std::vector<int> ports;  // [channel]
};

std::string encode(const Place& place) {
  ByteWriter writer;
  writer.text(place.fault);
  writer.number(static_cast<uint32_t>(place.addresses.size()));
  for (const std::string& address : place.addresses) {
    writer.text(address);
  }
  writer.number(static_cast<uint32_t>(place.ports.size()));
  for (const int port : place.ports) {
    writer.number(static_cast<uint16_t>(port));
  }
  return writer.bytes();
}

Place decode_place(const std::string& bytes) {
  ByteReader reader(bytes, "the addresses");
  Place place;
  place.fault = reader.text();
  for (auto left = reader.number<uint32_t>(); left > 0; --left) {
    place.addresses.push_back(reader.text());
  }
  for (auto left = reader.number<uint32_t>(); left > 0; --left) {
    place.ports.push_back(reader.number<uint16_t>());
  }
  reader.expect_end();
  return place;
}

std::string local_name(const JobSecret& secret, int rank) { return fmt::format("bertft-{:016x}-{}", secret.job, rank); }

// Opens all listeners of this rank; a fault is handed back as text, so that all ranks can stop alike.
Place open_listeners(const Mesh& mesh, const MeshOptions& options, InterfaceChoice& choice, Greeter& greeter) {
  Place place;
  try {
    if (mesh.topology.local_size() > 1) greeter.add_listener(listen_local(local_name(mesh.secret, mesh.topology.rank)));
    if (mesh.topology.nodes() == 1) return place;
    choice = choose_interfaces(list_interfaces(), options.interface);
    if (choice.eligible.empty()) {
      throw CommError(fmt::format("no network interface for {} nodes: {}. Name one with comm.interface",
                                  mesh.topology.nodes(), describe(choice)));
    }
    for (const Interface& one : choice.eligible) {
      place.addresses.push_back(one.address);
    }
    const std::string address = place.addresses.size() == 1 ? place.addresses.front() : "";
    const int channels = options.lanes == 0 ? 1 : options.lanes + 2;
    for (int channel = 0; channel < channels; ++channel) {
      const int offset = mesh.topology.local_rank * channels + channel;
      Fd listener = listen_tcp(address, options.port_base == 0 ? 0 : options.port_base + offset);
      place.ports.push_back(port_of(listener));
      greeter.add_listener(std::move(listener));
    }
  } catch (const Error& error) {
    place.fault = error.what();
  }
  return place;
}

void refuse_faults(const Topology& topology, const std::vector<Place>& places) {
  for (size_t rank = 0; rank < places.size(); ++rank) {
    if (places[rank].fault.empty()) continue;
    const std::string text = fmt::format("{}: {}", topology.name_of(static_cast<int>(rank)), places[rank].fault);
    if (topology.rank == 0) throw SharedError(ExitCode::kComm, text);
    throw ReportedElsewhere(ExitCode::kComm, text);
  }
}

void add_links(const Mesh& mesh, const MeshOptions& options, const InterfaceChoice& choice,
               const std::vector<Place>& places, Greeter& greeter) {
  for (const int peer : mesh.topology.locals()) {
    if (peer < mesh.topology.rank) greeter.call({{peer, 0}, {}, 0, local_name(mesh.secret, peer)});
    if (peer > mesh.topology.rank) greeter.expect({peer, 0});
  }
  for (const Link& link : tcp_links(mesh.topology, options.lanes, options.is_hierarchical)) {
    const Place& place = places[static_cast<size_t>(link.peer)];
    if (link.peer > mesh.topology.rank) {
      greeter.expect(link);
    } else {
      greeter.call({link, order_addresses(choice.eligible, place.addresses),
                    place.ports.at(static_cast<size_t>(link.channel)), ""});
    }
  }
}

}  // namespace

Mesh connect_mesh(Bootstrap& bootstrap, const std::string& node, const MeshOptions& options) {
  check(options.lanes >= 0 && options.lanes <= 64, "at most 64 lanes");
  Mesh mesh;
  std::vector<std::string> nodes;
  const std::string secret = bootstrap.rank() == 0 ? encode(draw_secret()) : "";
  for (const std::string& bytes : bootstrap.all_gather(encode(Card{node, secret}))) {
    const Card card = decode_card(bytes);
    if (nodes.empty()) mesh.secret = decode_secret(card.secret);
    nodes.push_back(card.node);
  }
  mesh.topology = make_topology(bootstrap.rank(), nodes);

  Greeter greeter(mesh.topology, mesh.secret);
  InterfaceChoice choice;
  std::vector<Place> places;
  for (const std::string& bytes : bootstrap.all_gather(encode(open_listeners(mesh, options, choice, greeter)))) {
    places.push_back(decode_place(bytes));
  }
  refuse_faults(mesh.topology, places);
  add_links(mesh, options, choice, places, greeter);

  mesh.control.resize(static_cast<size_t>(mesh.topology.size));
  for (auto& [link, socket] : greeter.run(options.connect_timeout_s, options.connect_warn_s)) {
    if (is_tcp(socket)) send_at_once(socket);
    if (link.channel > 0) {
      mesh.data[link] = std::move(socket);
      continue;
    }
    if (is_tcp(socket)) watch_silence(socket);
    mesh.control[static_cast<size_t>(link.peer)] = std::move(socket);
  }
  mesh.closed_strangers = greeter.closed_strangers();
  if (mesh.topology.nodes() > 1) mesh.interfaces = describe(choice);
  return mesh;
}

}  // namespace bertft::native
