// tokenize: what the tokenizer of a model folder makes of texts. Needs the tokenizer's files only.
#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "commands/command.h"
#include "core/error.h"
#include "core/files.h"
#include "tokenize/tokenizer.h"
#include "train/model_settings.h"

namespace bertft {
namespace {

class TokenizeCommand final : public Command {
 public:
  std::string name() const override { return "tokenize"; }
  std::string summary() const override { return "show pieces, ids and token types of texts"; }

  void declare(CLI::App& app) override {
    app.add_option("--model", model_folder_, "a folder with tokenizer files");
    text_option_ = app.add_option("text", text_, "one text (with --pair: its first tab divides a pair)");
    app.add_option("--data", data_path_, "a file with one text per line (LF), or - for standard input")
        ->excludes(text_option_);
    app.add_flag("--pair", is_pair_, "the first tab of each line divides a pair");
    app.add_flag("--ids", shows_ids_only_, "one line of blank-separated ids per text");
    app.add_option("--compat", compat_, "hf or google")->capture_default_str();
  }

  int run() override {
    require_argument(name(), model_folder_, "--model DIR");
    if (text_option_->count() == 0 && data_path_.empty()) {
      throw ConfigError("command line: tokenize needs a text, or --data FILE");
    }
    const Tokenizer tokenizer = Tokenizer::load(model_folder_, parse_compat(compat_));
    if (data_path_.empty()) {
      show(tokenizer, text_);
    } else {
      const std::string content =
          data_path_ == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : read_file(data_path_);
      show_lines(tokenizer, content);
    }
    if (!std::cout.flush()) throw ResourceError("cannot write to standard output");
    return 0;
  }

 private:
  void show_lines(const Tokenizer& tokenizer, std::string_view content) const {
    while (!content.empty()) {
      const size_t end = content.find('\n');
      show(tokenizer, content.substr(0, end));
      content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    }
  }

  void show(const Tokenizer& tokenizer, std::string_view text) const {
    const EncodeOptions untruncated;
    const size_t tab = is_pair_ ? text.find('\t') : std::string_view::npos;
    const Encoding encoding = tab == std::string_view::npos
                                  ? tokenizer.encode(text, untruncated)
                                  : tokenizer.encode_pair(text.substr(0, tab), text.substr(tab + 1), untruncated);
    if (shows_ids_only_) {
      std::cout << fmt::format("{}\n", fmt::join(encoding.ids, " "));
      return;
    }
    std::string pieces;
    for (const int32_t id : encoding.ids) pieces += (pieces.empty() ? "" : " ") + tokenizer.piece(id);
    std::cout << fmt::format("{}\t{}\t{}\n", pieces, fmt::join(encoding.ids, " "),
                             fmt::join(encoding.token_types, " "));
  }

  std::string model_folder_;
  std::string text_;
  CLI::Option* text_option_ = nullptr;
  std::string data_path_;
  std::string compat_ = "hf";
  bool is_pair_ = false;
  bool shows_ids_only_ = false;
};

}  // namespace

std::unique_ptr<Command> make_tokenize_command() { return std::make_unique<TokenizeCommand>(); }

}  // namespace bertft
