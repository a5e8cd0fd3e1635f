#include "optim/optimizer.h"

#include "core/error.h"
#include "optim/adam.h"
#include "optim/adamw.h"
#include "optim/lamb.h"
#include "optim/sgd.h"

namespace bertft {

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, const at::Tensor& gradients,
                                          const Layout& layout) {
  if (options.type == "adamw") return std::make_unique<AdamW>(gradients, layout, options);
  if (options.type == "adam") return std::make_unique<Adam>(gradients, layout, options);
  if (options.type == "sgd") return std::make_unique<Sgd>(gradients, layout, options);
  if (options.type == "lamb") return std::make_unique<Lamb>(gradients, layout, options);
  throw ConfigError("optimizer.type: '" + options.type + "' is not one of adamw, adam, sgd, lamb");
}

}  // namespace bertft
