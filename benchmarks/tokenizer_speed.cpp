// Times the tokenizer over the texts of a file: `bench_tokenizer FOLDER FILE COLUMN THREADS REPEATS` encodes column
// COLUMN (from 0, tabs divide columns) of every line REPEATS times and prints one JSON line. scripts/bench/
// tokenizer_speed.py runs it beside the `tokenizers` package.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/files.h"
#include "tokenize/tokenizer.h"

namespace {

using bertft::Tokenizer;

constexpr size_t kPieceTexts = 512;  // as many as data/row_encoder takes at a time

std::string_view column_of(std::string_view line, int column) {
  for (; column > 0; --column) {
    const size_t tab = line.find('\t');
    line = tab == std::string_view::npos ? std::string_view() : line.substr(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

std::vector<std::string_view> texts_of(std::string_view content, int column) {
  std::vector<std::string_view> texts;
  while (!content.empty()) {
    const size_t end = content.find('\n');
    std::string_view line = content.substr(0, end);
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    texts.push_back(column_of(line, column));
  }
  return texts;
}

// Ids of all texts of one piece, one behind the other.
using PieceIds = std::vector<int32_t>;

std::vector<PieceIds> encode_all(const Tokenizer& tokenizer, const std::vector<std::string_view>& texts, int threads) {
  std::vector<PieceIds> pieces((texts.size() + kPieceTexts - 1) / kPieceTexts);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    bertft::Encoding encoding;
    for (size_t piece = next++; piece < pieces.size(); piece = next++) {
      const size_t end = std::min(texts.size(), (piece + 1) * kPieceTexts);
      for (size_t i = piece * kPieceTexts; i < end; ++i) {
        tokenizer.encode(texts[i], {}, &encoding);
        pieces[piece].insert(pieces[piece].end(), encoding.ids.begin(), encoding.ids.end());
      }
    }
  };
  std::vector<std::jthread> helpers;
  while (static_cast<int>(helpers.size()) + 1 < threads) helpers.emplace_back(work);
  work();
  helpers.clear();  // joins
  return pieces;
}

double process_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void measure(const Tokenizer& tokenizer, const std::vector<std::string_view>& texts, int threads, int repeats) {
  std::vector<double> wall_s;
  std::vector<double> cpu_s;
  size_t ids = 0;
  uint64_t checksum = 0;  // sum of ids, each times its place from 1 among all ids, modulo 2^64
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double cpu_start = process_cpu_s();
    const auto start = std::chrono::steady_clock::now();
    const std::vector<PieceIds> pieces = encode_all(tokenizer, texts, threads);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    cpu_s.push_back(process_cpu_s() - cpu_start);
    wall_s.push_back(seconds.count());
    ids = 0;
    checksum = 0;
    for (const PieceIds& piece : pieces) {
      for (const int32_t id : piece) checksum += static_cast<uint64_t>(id) * ++ids;
    }
  }
  size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  fmt::print(
      "{{\"texts\": {}, \"bytes\": {}, \"ids\": {}, \"checksum\": {}, \"wall_s\": [{:.6f}], \"cpu_s\": [{:.6f}]}}\n",
      texts.size(), bytes, ids, checksum, fmt::join(wall_s, ", "), fmt::join(cpu_s, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: bench_tokenizer FOLDER FILE COLUMN THREADS REPEATS\n", stderr);
    return 2;
  }
  try {
    const Tokenizer tokenizer = Tokenizer::load(argv[1], bertft::Compat::kHf);
    const std::string content = bertft::read_file(argv[2]);
    measure(tokenizer, texts_of(content, std::stoi(argv[3])), std::stoi(argv[4]), std::stoi(argv[5]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_tokenizer: %s\n", error.what());
    return 3;
  }
  return 0;
}
