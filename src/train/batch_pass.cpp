#include "train/batch_pass.h"

#include <utility>

#include "core/error.h"
#include "data/packed_batch.h"

namespace bertft {

ForwardPassPtr make_pass(const Dataset& dataset, std::span<const int64_t> rows, const PassSettings& settings) {
  check(!rows.empty(), "a pass has at least one row");
  PackedBatch batch = pack_rows(dataset, rows);
  auto pass = std::make_shared<ForwardPass>();
  pass->tokens = {std::move(batch.ids), std::move(batch.positions), std::move(batch.token_types)};
  pass->sequences.offsets = std::move(batch.offsets);
  pass->sequences.max_length = batch.max_length;
  pass->first_tokens = ops::single_rows(static_cast<int64_t>(batch.rows.size()));
  pass->rows = std::move(batch.rows);
  pass->parts = std::move(batch.parts);
  pass->features = std::move(batch.features);
  pass->feature_width = batch.feature_width;
  pass->is_training = settings.is_training;
  pass->seed = settings.seed;
  pass->step = settings.step;
  return pass;
}

}  // namespace bertft
