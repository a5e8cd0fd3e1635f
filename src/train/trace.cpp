#include "train/trace.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/hash.h"

namespace bertft {

Trace::Trace(const std::string& path) : path_(path), file_(path, std::ios::trunc) {
  if (!file_) throw ResourceError("--trace: cannot open " + path + ". Check the folder and its permissions");
}

void Trace::add(const StepResult& result, int rank, const ParameterStore& store) {
  file_ << fmt::format(
               "{{\"step\":{},\"rank\":{},\"rows\":[{}],\"loss\":{:.9g},\"lr\":{:.9g},\"grad_norm\":{:.9g},"
               "\"parameter_hash\":\"{}\"}}\n",
               result.batch.step, rank, fmt::join(result.rows, ","), result.loss, result.lr, result.grad_norm,
               hash_text(parameter_hash(store)))
        << std::flush;
  if (!file_) throw ResourceError("--trace: cannot write " + path_);
}

uint64_t parameter_hash(const ParameterStore& store) {
  const at::Tensor weights = store.weights().cpu();
  return hash64(weights.const_data_ptr(), weights.nbytes(), 0);
}

}  // namespace bertft
