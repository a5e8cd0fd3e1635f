#include "random_texts.h"

#include <array>

#include "tokenize/utf8.h"

namespace bertft::test {
namespace {

constexpr std::array<char32_t, 10> kSpaces = {0x20, 0x09, 0x0A, 0x0D, 0xA0, 0x3000, 0x2028, 0x0B, 0x85, 0x200B};
constexpr std::array<char32_t, 16> kMarks = {0x302E, 0x302F, 0x1D165, 0x1D16D, 0x0345,  0x0344, 0x034F, 0x07FD,
                                             0x08D3, 0x093C, 0x0F73,  0x1DF6,  0x16FF0, 0x05B0, 0x064B, 0x0E38};
constexpr std::array<char32_t, 12> kControls = {0x00,   0x1F,   0x7F,   0x9F,   0xAD,   0x200D,
                                                0x202E, 0xFEFF, 0xFFFD, 0xE000, 0xFFFF, 0xE0001};
constexpr std::array<const char*, 10> kLiterals = {"[CLS]",  "[SEP]",   "[MASK]", "[PAD]",     "[UNK]",
                                                   "[mask]", "[ SEP ]", "[SEP",   "[unused1]", "##ing"};

class Generator {
 public:
  explicit Generator(uint64_t state) : state_(state) {}

  std::string text() {
    const uint64_t parts = 1 + below(12);
    for (uint64_t i = 0; i < parts; ++i) {
      part();
      if (below(2) == 0) out_ += ' ';
    }
    return out_;
  }

 private:
  uint64_t below(uint64_t n) {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (z ^ (z >> 31)) % n;
  }

  void put(uint64_t code) { append_utf8(static_cast<char32_t>(code), &out_); }
  void put_scalar(uint64_t index) { put(index < 0xD800 ? index : index + 0x800); }

  void run(uint64_t max_length, uint64_t first, uint64_t count) {
    const uint64_t length = 1 + below(max_length);
    for (uint64_t i = 0; i < length; ++i) put(first + below(count));
  }

  template <size_t N>
  void picks(uint64_t max_length, const std::array<char32_t, N>& table) {
    const uint64_t length = 1 + below(max_length);
    for (uint64_t i = 0; i < length; ++i) put(table[below(N)]);
  }

  void word() {
    const size_t start = out_.size();
    run(8, 0x61, 26);
    if (below(4) == 0) out_[start] = static_cast<char>(out_[start] - 32);
  }

  void letter_with_marks() {
    const uint64_t first = below(2) == 0 ? 0x61 : 0x41;
    put(first + below(26));
    const uint64_t marks = 1 + below(4);
    for (uint64_t i = 0; i < marks; ++i) {
      if (below(2) == 0) {
        put(0x300 + below(0x70));
      } else {
        put(kMarks[below(kMarks.size())]);
      }
    }
  }

  void rare() {
    switch (below(4)) {
      case 0:
        out_ += kLiterals[below(kLiterals.size())];
        break;
      case 1:
        put_scalar(below(1112064));
        break;
      case 2:
        put_scalar(below(63488));
        break;
      default:
        for (uint64_t i = 45 + below(60); i > 0; --i) out_ += "ab";
    }
  }

  void part() {
    const uint64_t kind = below(16);
    switch (kind) {
      case 5:
        run(6, 0x20, 95);
        break;
      case 6:
        picks(3, kSpaces);
        break;
      case 7:
        run(6, 0xC0, 0x190);
        break;
      case 8:
        letter_with_marks();
        break;
      case 9:
        run(6, 0x370, 0x1C0);
        break;
      case 10:
        run(4, 0xAC00, 11172);
        break;
      case 11:
        run(6, 0x4E00, 0x5200);
        break;
      case 12:
        run(5, 0x3000, 0x100);
        break;
      case 13:
        picks(2, kControls);
        break;
      case 14:
        run(3, 0x2010, 0x50);
        break;
      case 15:
        rare();
        break;
      default:
        word();
    }
  }

  uint64_t state_;
  std::string out_;
};

}  // namespace

std::string random_text(uint64_t index) { return Generator(index << 32).text(); }

}  // namespace bertft::test
