#include "train/splits.h"

#include <utility>
#include <vector>

#include "core/log.h"
#include "data/data_report.h"
#include "data/dataset_cache.h"
#include "data/dev_split.h"

namespace bertft {

Splits load_splits(const RunConfig& config, const SplitEncoder& encoder, Task& task, bool is_verified) {
  const DatasetCache cache(config.data.cache_dir);
  if (!cache.problem().empty()) log::warn(cache.problem());
  const auto load = [&](const StringList& paths) {
    const SplitFiles files{paths, table_request(config.data, true)};
    Dataset dataset = load_split(files, encoder, cache);
    if (is_verified) verify_content(files, dataset);
    return dataset;
  };
  Splits splits{load(config.data.train), {}, {}};
  if (!config.data.dev.empty()) splits.dev = load(config.data.dev);
  if (!config.data.test.empty()) splits.test = load(config.data.test);
  for (const std::string& warning : task.prepare(splits.train)) log::warn(warning);
  task.attach_targets(splits.train);
  if (splits.dev) task.attach_targets(*splits.dev);
  if (splits.test) task.attach_targets(*splits.test);
  if (config.data.dev_fraction > 0) {
    DevSplit parts = split_dev(splits.train, config.data.dev_fraction, static_cast<uint64_t>(config.run.seed));
    splits.train = std::move(parts.train);
    splits.dev = std::move(parts.dev);
  }
  return splits;
}

std::string splits_report(const Splits& splits, const LabelTable& labels) {
  std::vector<NamedSplit> named = {{"train", &splits.train}};
  if (splits.dev) named.push_back({"dev", &*splits.dev});
  if (splits.test) named.push_back({"test", &*splits.test});
  return data_report(named, labels);
}

}  // namespace bertft
