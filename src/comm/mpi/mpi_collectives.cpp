// Collectives of the MPI transport: MPI's own, in pieces that its counts can hold, as operations that end with the job.
#include <algorithm>
#include <cstring>

#include "comm/mpi/mpi_impl.h"
#include "core/error.h"

namespace bertft::mpi {
namespace {

constexpr size_t kPiece = size_t{16} << 20;  // bytes of a rank that travel at once

const TransportWait kPlace{-1, "the other ranks", 0, -1, {}};

}  // namespace

void MpiTransport::broadcast(void* data, size_t bytes, int root) {
  check(root >= 0 && root < size(), "broadcast from a rank that is not there");
  const bool is_root = root == rank();
  for (size_t at = 0; at < bytes; at += kPiece) {
    const size_t count = std::min(kPiece, bytes - at);
    std::vector<MPI_Request> requests(1);
    collective_wait_.start("MPI_Ibcast", [&] {
      return MPI_Ibcast(static_cast<std::byte*>(data) + at, static_cast<int>(count), MPI_BYTE, place_of(root),
                        collectives_, requests.data());
    });
    collective_wait_.until_done(requests, kPlace);
    if (is_root) {
      collective_meter().message_sent();
      collective_meter().sent(0, count);
    } else {
      collective_meter().message_received();
      collective_meter().received(0, count);
    }
  }
}

// `bytes` and `at`: of each rank's part, in canonical order.
void MpiTransport::gather(const void* mine, void* all, const std::vector<int>& bytes, const std::vector<int>& at) {
  const auto own = static_cast<size_t>(place_of(rank()));
  std::vector<MPI_Request> requests(1);
  collective_wait_.start("MPI_Iallgatherv", [&] {
    return MPI_Iallgatherv(mine, bytes[own], MPI_BYTE, all, bytes.data(), at.data(), MPI_BYTE, collectives_,
                           requests.data());
  });
  collective_wait_.until_done(requests, kPlace);
  for (size_t place = 0; place < bytes.size(); ++place) {
    if (place == own) continue;
    collective_meter().message_sent();
    collective_meter().sent(0, static_cast<size_t>(bytes[own]));
    collective_meter().message_received();
    collective_meter().received(0, static_cast<size_t>(bytes[place]));
  }
}

std::vector<std::string> MpiTransport::all_gather(const std::string& mine) {
  const auto count = static_cast<size_t>(size());
  const uint64_t length = mine.size();
  std::vector<uint64_t> lengths(count);
  std::vector<int> bytes(count, static_cast<int>(sizeof length));
  std::vector<int> at(count);
  for (size_t place = 0; place < count; ++place) at[place] = static_cast<int>(place * sizeof length);
  gather(&length, lengths.data(), bytes, at);

  std::vector<std::string> texts(count);  // in canonical order
  const size_t piece = std::min(kPiece, (size_t{1} << 30) / count);
  const uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string all;
  for (uint64_t from = 0; from < longest; from += piece) {
    size_t total = 0;
    for (size_t place = 0; place < count; ++place) {
      const uint64_t rest = lengths[place] > from ? lengths[place] - from : 0;
      bytes[place] = static_cast<int>(std::min<uint64_t>(piece, rest));
      at[place] = static_cast<int>(total);
      total += static_cast<size_t>(bytes[place]);
    }
    all.resize(total);
    gather(mine.data() + std::min<uint64_t>(from, length), all.data(), bytes, at);
    for (size_t place = 0; place < count; ++place) {
      texts[place].append(all, static_cast<size_t>(at[place]), static_cast<size_t>(bytes[place]));
    }
  }
  std::vector<std::string> result(count);
  for (size_t place = 0; place < count; ++place) {
    result[static_cast<size_t>(topology().canonical[place])] = std::move(texts[place]);
  }
  return result;
}

void MpiTransport::barrier() {
  std::vector<MPI_Request> requests(1);
  collective_wait_.start("MPI_Ibarrier", [&] { return MPI_Ibarrier(collectives_, requests.data()); });
  collective_wait_.until_done(requests, kPlace);
}

}  // namespace bertft::mpi
