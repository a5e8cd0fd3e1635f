#include "commands/command_ranks.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "comm/start.h"
#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/version.h"

namespace bertft {

CommandRanks::CommandRanks() : bootstrap_(start_bootstrap()), world_(find_world(*bootstrap_)) {}

GatherTexts CommandRanks::gather() {
  return [this](const std::string& mine) { return bootstrap_->all_gather(mine); };
}

void CommandRanks::together(const std::function<void()>& work) { all_or_none(world_, gather(), work); }

int CommandRanks::run(const std::function<int()>& body) {
  try {
    const int exit_code = body();
    bootstrap_->finish();
    return exit_code;
  } catch (const SharedError&) {
    bootstrap_->finish();
    throw;
  }
}

namespace {

std::string arguments_but_places() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::string text;
  bool is_place = true;  // the program itself
  for (size_t at = 0; at < all.size();) {
    const std::string argument = all.substr(at, all.find('\0', at) - at);
    at += argument.size() + 1;
    const bool names_place = argument == "--model" || argument == "--data" || argument == "--output";
    const bool holds_place =
        argument.starts_with("--model=") || argument.starts_with("--data=") || argument.starts_with("--output=");
    if (!is_place && !names_place && !holds_place) text += (text.empty() ? "" : " ") + argument;
    is_place = names_place;
  }
  return text;
}

}  // namespace

Facts model_facts(const std::string& model_folder, uint64_t checksum) {
  Facts facts = {{"the program's version", version()},
                 {"the command line", arguments_but_places()},
                 {"the checksum of --model", hash_text(checksum)}};
  for (const char* name :
       {"config.json", "bert_finetune.json", "vocab.txt", "tokenizer_config.json", "tokenizer.json"}) {
    const std::string path = model_folder + "/" + name;
    const bool is_there = std::filesystem::exists(path);
    facts.push_back(
        {std::string("the content of --model, ") + name, is_there ? hash_text(hash64(read_file(path))) : ""});
  }
  return facts;
}

}  // namespace bertft
