// The words through which the ranks of one node agree: each rank writes what it has ready, the leader (local rank 0)
// reads the AND, negotiates with the other leaders and writes what all nodes agreed on. The words lie in memory that
// the caller provides, shared by the processes of a node or private where a node has one rank; nothing here waits.
//
// Driving it: `bytes()` of memory, aligned to 64; one process calls format() before the others make a NodeBoard on it.
// After a rank's mark_ready (and step_begin) the driver rings the leader's bell, after publish() the members' bell: a
// bell is a 32-bit word for a futex, which the board never touches. Who waits reads the bell, looks at the board, and
// sleeps only while the bell still has the value it read; so no change is slept through.
//
// Words, 8 bytes each, little use outside this file; slots are padded to 64 bytes so that no two writers share a line:
//   head              magic, local_size, units, then the two bells on lines of their own
//   one slot a rank   step + 1, flags, ready bits            written by that rank alone
//   two slots         step + 1, count, flags, `count` units   written by the leader alone; step s uses slot s % 2
// Ordering: a rank writes flags before bits and both before the step; a reader reads the other way round, with release
// and acquire. Bits and flags only grow within a step, so bits read in pieces are bits that were set, and a set bit
// comes with every flag that was raised before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/agreed.h"
#include "comm/decentral/readiness.h"
#include "comm/decentral/rules.h"

namespace bertft {

class NodeBoard final : public ReadinessSource {
 public:
  static size_t bytes(int local_size, int units);
  static void format(void* memory, int local_size, int units);

  // Throws CommError when the memory was formatted for other numbers. It must outlive the board.
  NodeBoard(void* memory, int local_size, int units, const DecentralRules& rules = {});

  // The same board over other memory that holds the same words, for tests that branch.
  NodeBoard over(void* memory) const { return {memory, local_size_, units_, rules_}; }

  int local_size() const { return local_size_; }
  int units() const { return units_; }

  // A rank's own slot; called by that rank alone. Entering a step empties the bits.
  void enter_step(int local_rank, int64_t step, uint32_t flags);
  void set_flags(int local_rank, uint32_t flags);
  void set_ready(int local_rank, int unit);

  // For the leader: what the node has to say for `step`.
  Readiness read(int64_t step) const override;
  // For reports about stalls: the ranks of this node that have not marked `unit` in `step`, or are not in it.
  std::vector<int> ranks_without(int unit, int64_t step) const;

  // The leader's results. The slot of step s is free when the leader enters s: all ranks have left step s - 2 by then.
  void open_results(int64_t step);
  void publish(const AgreedRound& round);

  // For members: what has been agreed in `step` from unit number `seen` on, round by round; nothing when the leader has
  // not entered it. Rounds without units are left out; their flags are in result_flags().
  std::vector<AgreedRound> results(int64_t step, int seen) const;
  // All units of the step are agreed; its flags are final.
  bool is_complete(int64_t step) const;
  uint32_t result_flags(int64_t step) const;

  uint32_t* leader_bell() const;
  uint32_t* member_bell() const;

 private:
  uint64_t* rank_slot(int local_rank) const;
  uint64_t* result_slot(int64_t step) const;

  uint64_t* words_;
  int local_size_;
  int units_;
  DecentralRules rules_;
};

}  // namespace bertft
