// Encodes each line of a file for scripts/compare_tokenizers.py: ids in binary, or the time it takes on one thread.
// A test tool, not installed: the executable's own command is `bert_finetune tokenize`.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "tokenize/tokenizer.h"

namespace {

std::vector<std::string_view> split_lines(std::string_view content) {
  std::vector<std::string_view> lines;
  while (!content.empty()) {
    const size_t end = content.find('\n');
    lines.push_back(content.substr(0, end));
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
  }
  return lines;
}

// Little-endian 32-bit ids without special tokens, closed by -1 for each line.
void write_ids(const bertft::Tokenizer& tokenizer, const std::vector<std::string_view>& lines) {
  for (const std::string_view line : lines) {
    std::vector<int32_t> ids = tokenizer.ids_without_special(line);
    ids.push_back(-1);
    std::fwrite(ids.data(), sizeof(int32_t), ids.size(), stdout);
  }
}

// The best of several runs over all lines, with special tokens.
void measure(const bertft::Tokenizer& tokenizer, const std::vector<std::string_view>& lines, size_t bytes) {
  double best_s = 1e9;
  size_t ids = 0;
  bertft::Encoding encoding;
  for (int run = 0; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    ids = 0;
    for (const std::string_view line : lines) {
      tokenizer.encode(line, {}, &encoding);
      ids += encoding.ids.size();
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best_s = std::min(best_s, seconds.count());
  }
  std::printf("%zu texts %zu bytes %zu ids %.4f s  %.0f texts/s\n", lines.size(), bytes, ids, best_s,
              static_cast<double>(lines.size()) / best_s);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: tokenize_tool FOLDER FILE hf|google ids|time\n", stderr);
    return 2;
  }
  try {
    const auto compat = std::string_view(argv[3]) == "google" ? bertft::Compat::kGoogle : bertft::Compat::kHf;
    const bertft::Tokenizer tokenizer = bertft::Tokenizer::load(argv[1], compat);
    const std::string content = bertft::read_file(argv[2]);
    const std::vector<std::string_view> lines = split_lines(content);
    if (std::string_view(argv[4]) == "time") {
      measure(tokenizer, lines, content.size());
    } else {
      write_ids(tokenizer, lines);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
