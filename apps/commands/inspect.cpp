// inspect: what a checkpoint holds, and what training would load, start new and ignore.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "checkpoint/model_folder.h"
#include "checkpoint/tensor_file.h"
#include "commands/command.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "model/encoder.h"
#include "model/families.h"
#include "model/sequence_head.h"
#include "tokenize/tokenizer.h"
#include "train/model_settings.h"
#include "train/weight_loader.h"

namespace bertft {
namespace {

class InspectCommand final : public Command {
 public:
  std::string name() const override { return "inspect"; }
  std::string summary() const override { return "show what a checkpoint holds and what would be loaded"; }

  void declare(CLI::App& app) override {
    app.add_option("path", path_, "a model folder, or a file of weights");
    app.add_flag("--tensors", lists_tensors_, "also list every tensor");
  }

  int run() override {
    require_argument(name(), path_, "a model folder or file");
    const ModelFiles files = find_model_files(path_);
    const TensorFile weights = TensorFile::open(files.weights);
    show_tensors(weights);
    for (const std::string& note : weights.notes()) std::cout << "  note: " << note << "\n";
    if (!files.passed_over.empty()) {
      std::cout << "  note: also there, not read: " << join(files.passed_over, ", ") << "\n";
    }
    const bool is_folder = std::filesystem::is_directory(path_);
    if (!is_folder && !std::filesystem::exists(files.folder + "/config.json")) {
      std::cout << "no config.json beside it: the model cannot be told from the weights alone\n";
      return 0;
    }
    const EncoderConfig config = read_encoder_config(files.folder + "/config.json");
    show_model(config);
    const LoadPlan plan = show_plan(weights, config, files.folder);
    show_tokenizer(files.folder);
    if (!plan.faults.empty()) {
      throw CheckpointError(fmt::format("{}: cannot be loaded: {}", files.weights, join(plan.faults, "; ")));
    }
    return 0;
  }

 private:
  void show_tensors(const TensorFile& file) const {
    int64_t elements = 0;
    for (const TensorView& tensor : file.tensors()) {
      elements += element_count(tensor.shape);
      if (lists_tensors_) {
        std::cout << fmt::format("  {:<60} {:<5} {}\n", tensor.name, dtype_name(tensor.dtype),
                                 shape_text(tensor.shape));
      }
    }
    std::cout << fmt::format("{}: {} tensors, {} elements, checksum {}\n", file.path(), file.tensors().size(),
                             with_thousands(elements), hash_text(file.checksum()));
  }

  static void show_model(const EncoderConfig& c) {
    std::cout << fmt::format(
        "model: {}, {} layers, hidden {}, {} heads, intermediate {}, vocabulary {}, {} positions\n", c.model_type,
        c.layers, c.hidden_size, c.heads, c.intermediate_size, with_thousands(c.vocab_size), c.max_positions);
  }

  // What a text classifier with the labels of config.json (or two) would take from the file.
  static LoadPlan show_plan(const TensorFile& file, const EncoderConfig& config, const std::string& folder) {
    std::vector<std::string> labels;
    try {
      labels = read_model_settings(folder).labels;
    } catch (const CheckpointError&) {
      labels = {"0", "1"};
    }
    std::vector<ParameterSpec> head;
    std::vector<ParameterSpec> encoder;
    SequenceHead::append_specs(config, static_cast<int64_t>(labels.size()), head);
    Encoder::append_specs(config, encoder);
    std::vector<WantedTensor> wanted;
    for (const ParameterSpec& spec : head) wanted.push_back({spec.name, spec.shape, true});
    for (const ParameterSpec& spec : encoder) wanted.push_back({spec.name, spec.shape, false});
    const LoadPlan plan = match_tensors(file, wanted, name_rules(config));
    std::cout << fmt::format("loaded: {} tensors, {} parameters, {:.0f} % of the encoder\n", plan.loaded.size(),
                             with_thousands(plan.loaded_elements), 100.0 * plan.encoder_share);
    for (const std::string& name : plan.created) std::cout << "new: " << name << "\n";
    for (const IgnoredTensor& ignored : plan.ignored) {
      std::cout << "ignored: " << ignored.name << " (" << ignored.reason << ")\n";
    }
    std::cout << fmt::format("labels: {}\n", join(labels, ", "));
    return plan;
  }

  static void show_tokenizer(const std::string& folder) {
    const Tokenizer tokenizer = Tokenizer::load(folder, Compat::kHf);
    std::cout << fmt::format("tokenizer: WordPiece, {} tokens, {}, files {}\n", with_thousands(tokenizer.vocab_size()),
                             tokenizer.lower_case() ? "lower-cased" : "cased", join(tokenizer.files(), ", "));
    for (const std::string& note : tokenizer.notes()) std::cout << "  note: " << note << "\n";
  }

  std::string path_;
  bool lists_tensors_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace bertft
