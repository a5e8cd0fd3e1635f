#include "checkpoint/load_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "checkpoint/convert.h"
#include "core/text.h"

namespace bertft {
namespace {

bool starts_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// LayerNorm.gamma and LayerNorm.beta under their later names; every other name as it is.
std::string modern_name(const std::string& name) {
  constexpr std::string_view kModule = "LayerNorm.";
  for (const auto& [old_name, new_name] : {std::pair{"gamma", "weight"}, std::pair{"beta", "bias"}}) {
    const std::string old_end = std::string(kModule) + old_name;
    if (!ends_with(name, old_end)) continue;
    const size_t at = name.size() - old_end.size();
    if (at == 0 || name[at - 1] == '.') return name.substr(0, at) + std::string(kModule) + new_name;
  }
  return name;
}

// The name with each whole-number component replaced by '#': equal for the same tensor of different layers.
std::string layer_pattern(std::string_view name) {
  std::string pattern;
  while (true) {
    const size_t dot = name.find('.');
    const std::string_view part = name.substr(0, dot);
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    pattern += is_number ? "#" : part;
    if (dot == std::string_view::npos) return pattern;
    pattern += '.';
    name.remove_prefix(dot + 1);
  }
}

// One matching of a file with a list of wanted tensors; run() is the whole use.
class Matcher {
 public:
  Matcher(const TensorFile& file, const std::vector<WantedTensor>& wanted, const NameRules& rules)
      : tensors_(file.tensors()), wanted_(wanted), rules_(rules), is_used_(file.tensors().size(), false) {}

  LoadPlan run() {
    index_names();
    plan_.source.assign(wanted_.size(), -1);
    choose_prefix();
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].is_head_side) {
        match_head(i);
      } else {
        match_encoder(i);
      }
    }
    drop_partial_head_modules();
    count_results();
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (!is_used_[i]) judge_unwanted(tensors_[i]);
    }
    if (beyond_count_ > 0) add_beyond_fault();
    std::sort(plan_.ignored.begin(), plan_.ignored.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return std::move(plan_);
  }

 private:
  // Exact names come first, so that an old LayerNorm name never hides a present one.
  void index_names() {
    for (size_t i = 0; i < tensors_.size(); ++i) by_name_.emplace(tensors_[i].name, static_cast<int>(i));
    for (size_t i = 0; i < tensors_.size(); ++i) by_name_.emplace(modern_name(tensors_[i].name), static_cast<int>(i));
  }

  int find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? -1 : found->second;
  }

  void choose_prefix() {
    std::vector<std::string> candidates = rules_.prefixes;
    candidates.emplace_back();
    int64_t most = 0;
    for (const std::string& candidate : candidates) {
      const int64_t hits = std::count_if(wanted_.begin(), wanted_.end(), [&](const WantedTensor& w) {
        return !w.is_head_side && find(candidate + w.name) >= 0;
      });
      if (hits <= most) continue;
      most = hits;
      plan_.prefix = candidate;
    }
  }

  void match_encoder(size_t i) {
    const WantedTensor& want = wanted_[i];
    ++plan_.encoder_tensors;
    const int source = find(plan_.prefix + want.name);
    if (source < 0) {
      plan_.faults.push_back(describe_missing(want));
      return;
    }
    const TensorView& tensor = tensors_[static_cast<size_t>(source)];
    is_used_[static_cast<size_t>(source)] = true;
    ++plan_.encoder_found;
    if (tensor.shape != want.shape) {
      plan_.faults.push_back(fmt::format("{} is {} in the file, the model needs {}", excerpt(tensor.name, 200),
                                         shape_text(tensor.shape), shape_text(want.shape)));
    } else if (is_readable(tensor)) {
      plan_.source[i] = source;
      ++plan_.encoder_matched;
    }
  }

  void match_head(size_t i) {
    const WantedTensor& want = wanted_[i];
    int source = find(plan_.prefix + want.name);
    if (source < 0) source = find(want.name);
    if (source < 0) return;
    const TensorView& tensor = tensors_[static_cast<size_t>(source)];
    is_used_[static_cast<size_t>(source)] = true;
    if (tensor.shape != want.shape) {
      plan_.mismatched.push_back({static_cast<int>(i), source, tensor.shape});
      plan_.ignored.push_back({tensor.name, fmt::format("it is {}, the model's is {} and starts new",
                                                        shape_text(tensor.shape), shape_text(want.shape))});
    } else if (is_readable(tensor)) {
      plan_.source[i] = source;
    }
  }

  bool is_readable(const TensorView& tensor) {
    if (is_weight_dtype(tensor.dtype)) return true;
    plan_.faults.push_back(fmt::format("{} holds {}, weights must be F32, F16, BF16 or F64", excerpt(tensor.name, 200),
                                       dtype_name(tensor.dtype)));
    return false;
  }

  // Weight and bias of a head belong together: half of one module is worth nothing.
  void drop_partial_head_modules() {
    const auto module_of = [](const std::string& name) { return name.substr(0, name.rfind('.')); };
    std::unordered_set<std::string> incomplete;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].is_head_side && plan_.source[i] < 0) incomplete.insert(module_of(wanted_[i].name));
    }
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const std::string module = module_of(wanted_[i].name);
      if (!wanted_[i].is_head_side || plan_.source[i] < 0 || incomplete.count(module) == 0) continue;
      plan_.ignored.push_back({tensors_[static_cast<size_t>(plan_.source[i])].name,
                               fmt::format("the rest of {} does not fit, so all of it starts new", module)});
      plan_.source[i] = -1;
    }
  }

  void count_results() {
    int64_t encoder_elements = 0;
    int64_t encoder_elements_matched = 0;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const WantedTensor& want = wanted_[i];
      const int64_t elements = element_count(want.shape);
      const bool is_loaded = plan_.source[i] >= 0;
      if (is_loaded) {
        plan_.loaded.push_back(want.name);
        plan_.loaded_elements += elements;
      } else if (want.is_head_side) {
        plan_.created.push_back(want.name);
        plan_.created_elements += elements;
      }
      if (want.is_head_side) continue;
      encoder_elements += elements;
      if (is_loaded) encoder_elements_matched += elements;
      encoder_patterns_.insert(layer_pattern(want.name));
      encoder_namespaces_.insert(want.name.substr(0, want.name.find('.')));
    }
    plan_.encoder_share = encoder_elements == 0
                              ? 1.0
                              : static_cast<double>(encoder_elements_matched) / static_cast<double>(encoder_elements);
  }

  void judge_unwanted(const TensorView& tensor) {
    const bool has_prefix = starts_with(tensor.name, plan_.prefix);
    const std::string bare = tensor.name.substr(has_prefix ? plan_.prefix.size() : 0);
    const auto is_known = [&](const std::string& name) {
      return std::any_of(rules_.ignored_prefixes.begin(), rules_.ignored_prefixes.end(),
                         [&](const std::string& beginning) { return starts_with(name, beginning); }) ||
             std::count(rules_.ignored_names.begin(), rules_.ignored_names.end(), name) > 0;
    };
    if (is_known(bare) || is_known(tensor.name)) {
      plan_.ignored.push_back({tensor.name, "known, not needed for fine-tuning"});
      return;
    }
    const std::string modern = modern_name(tensor.name);
    if (modern != tensor.name && find(modern) >= 0 && is_used_[static_cast<size_t>(find(modern))]) {
      plan_.ignored.push_back({tensor.name, "the file also has " + modern});
      return;
    }
    // Buffers of whole numbers and empty tensors were not learned: they may be left out anywhere.
    const bool is_learned = is_weight_dtype(tensor.dtype) && tensor.bytes > 0;
    const bool is_in_encoder =
        plan_.encoder_found > 0 && has_prefix && encoder_namespaces_.count(bare.substr(0, bare.find('.'))) > 0;
    if (!is_learned || !is_in_encoder) {
      plan_.ignored.push_back({tensor.name, "not part of this model"});
      return;
    }
    if (beyond_count_++ == 0) {
      const bool is_another_layer = encoder_patterns_.count(layer_pattern(modern_name(bare))) > 0;
      first_beyond_ = fmt::format("{} {}", excerpt(tensor.name, 200),
                                  is_another_layer ? "belongs to a layer that config.json does not have"
                                                   : "is a part of the encoder that this model does not have");
    }
    plan_.ignored.push_back({tensor.name, "a part of the encoder that the model does not have"});
  }

  void add_beyond_fault() {
    plan_.faults.push_back(
        beyond_count_ == 1 ? first_beyond_ : fmt::format("{}, and {} more like it", first_beyond_, beyond_count_ - 1));
  }

  // A missing tensor, and where the file has it instead: under another prefix, or not at all.
  std::string describe_missing(const WantedTensor& want) const {
    for (const TensorView& tensor : tensors_) {
      const std::string name = modern_name(tensor.name);
      if (name == want.name || ends_with(name, "." + want.name)) {
        return fmt::format("{} is not in the file, which has {} instead", plan_.prefix + want.name,
                           excerpt(tensor.name, 200));
      }
    }
    return plan_.prefix + want.name + " is not in the file";
  }

  const std::vector<TensorView>& tensors_;
  const std::vector<WantedTensor>& wanted_;
  const NameRules& rules_;
  std::vector<bool> is_used_;
  std::unordered_map<std::string, int> by_name_;
  std::unordered_set<std::string> encoder_patterns_;
  std::unordered_set<std::string> encoder_namespaces_;
  int64_t beyond_count_ = 0;
  std::string first_beyond_;
  LoadPlan plan_;
};

}  // namespace

LoadPlan match_tensors(const TensorFile& file, const std::vector<WantedTensor>& wanted, const NameRules& rules) {
  return Matcher(file, wanted, rules).run();
}

}  // namespace bertft
