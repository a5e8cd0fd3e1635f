// Joins the ranks of a job, as the options of section `comm` say.
#pragma once

#include <memory>

#include "comm/bootstrap.h"
#include "comm/options.h"
#include "comm/rank_link.h"
#include "comm/world.h"

namespace bertft {

// Throws ConfigError or CommError when this process cannot use comm.transport, whatever its peers can. Not collective.
void require_transport_can_work(const CommOptions& options, const World& world);

// Collective. Null for a world of one, and for nccl, whose transport needs to know the gradients first. When an address
// or port cannot be had, all ranks throw SharedError alike. Throws CommError when the ranks cannot be connected.
std::shared_ptr<RankLink> connect_ranks(const CommOptions& options, const World& world, Bootstrap& bootstrap);

// What `comm.stall_*_s` mean for a watch that may end this process.
WatchSettings watch_settings(const CommOptions& options);

}  // namespace bertft
