#include "tokenize/bert_normalizer.h"

#include <algorithm>

#include "tokenize/unicode_tables.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

using unicode::CharClass;
using unicode::Mapped;
using unicode::Rules;

// Collects words. A word that is longer than any vocabulary allows is collected all the same: it is one unknown token.
class WordSink {
 public:
  WordSink(std::string* buffer, WordVisitor* visitor) : buffer_(*buffer), visitor_(*visitor) { buffer_.clear(); }

  bool wants_more() const { return wants_more_; }
  void word_char(char32_t code) {
    append_utf8(code, &buffer_);
    ++characters_;
  }
  void ascii_run(const char* bytes, size_t count, const char* lower) {
    const size_t old = buffer_.size();
    buffer_.resize(old + count);
    for (size_t i = 0; i < count; ++i) buffer_[old + i] = lower[static_cast<unsigned char>(bytes[i])];
    characters_ += static_cast<int32_t>(count);
  }
  void isolated(char32_t code) {
    blank(code);
    char bytes[4];
    if (wants_more_) wants_more_ = visitor_.word({bytes, encode_utf8(code, bytes)}, 1);
  }
  void ideograph(char32_t code) { isolated(code); }
  void blank(char32_t /*code*/) {
    if (characters_ == 0) return;
    if (wants_more_) wants_more_ = visitor_.word(buffer_, characters_);
    buffer_.clear();
    characters_ = 0;
  }

 private:
  std::string& buffer_;
  WordVisitor& visitor_;
  int32_t characters_ = 0;
  bool wants_more_ = true;
};

// Collects the normalized text.
class TextSink {
 public:
  explicit TextSink(std::string* out) : out_(*out) {}

  bool wants_more() const { return true; }
  void word_char(char32_t code) { append_utf8(code, &out_); }
  void ascii_run(const char* bytes, size_t count, const char* lower) {
    for (size_t i = 0; i < count; ++i) out_.push_back(lower[static_cast<unsigned char>(bytes[i])]);
  }
  void isolated(char32_t code) { word_char(code); }
  void ideograph(char32_t code) {
    out_.push_back(' ');
    word_char(code);
    out_.push_back(' ');
  }
  void blank(char32_t code) { word_char(code); }

 private:
  std::string& out_;
};

}  // namespace

// One pass over one text.
template <class Sink>
class BertNormalizer::Pass {
 public:
  Pass(const BertNormalizer& normalizer, std::string_view text, Sink* sink)
      : normalizer_(normalizer), options_(normalizer.options_), text_(text), sink_(*sink) {}

  void run() {
    while (at_ < text_.size() && sink_.wants_more()) {
      take_ascii_word_chars();
      if (at_ < text_.size()) take_character();
    }
  }

 private:
  void take_ascii_word_chars() {
    size_t end = at_;
    while (end < text_.size() && normalizer_.is_ascii_word_char_[static_cast<unsigned char>(text_[end])]) ++end;
    if (end == at_) return;
    sink_.ascii_run(text_.data() + at_, end - at_, normalizer_.ascii_lower_);
    at_ = end;
  }

  void take_character() {
    const DecodedChar next = decode_utf8(text_, at_);
    at_ += next.bytes;
    const uint32_t entry = normalizer_.entry(next.code);
    const char32_t code = entry & kCodeMask;
    switch (entry >> kKindShift) {
      case kWordChar:
        sink_.word_char(code);
        break;
      case kIsolated:
        sink_.isolated(code);
        break;
      case kIdeograph:
        sink_.ideograph(code);
        break;
      case kBlank:
        sink_.blank(code);
        break;
      case kDropped:
        break;
      default:
        take_complex(next.code);
    }
  }

  // A character that becomes several, or starts a sequence of marks that NFD sorts by combining class (stably, between
  // characters of class 0). Marks that strip_accents removes take no part: dropping them before sorting is the same.
  void take_complex(char32_t code) {
    if (!options_.strip_accents) {
      emit(code);
      return;
    }
    decompose_and_emit(code);
    while (!marks_.empty() && at_ < text_.size()) {
      const DecodedChar next = decode_utf8(text_, at_);
      const bool is_dropped = options_.clean_text && (unicode::char_class(next.code).flags & unicode::kDrop) != 0;
      if (!is_dropped) {
        const Mapped mapped = unicode::decompose(next.code, Rules::kHf);
        if (unicode::char_class(mapped.code[0]).combining == 0) break;
        decompose_and_emit(next.code);
      }
      at_ += next.bytes;
    }
    flush_marks();
  }

  void decompose_and_emit(char32_t code) {
    const Mapped mapped = unicode::decompose(code, Rules::kHf);
    for (int i = 0; i < mapped.length; ++i) {
      const CharClass char_class = unicode::char_class(mapped.code[i]);
      const bool is_stripped = (char_class.flags & unicode::kMark) != 0;
      if (char_class.combining == 0) {
        flush_marks();
        if (!is_stripped) emit(mapped.code[i]);
      } else if (!is_stripped) {
        marks_.push_back({char_class.combining, mapped.code[i]});
      }
    }
  }

  void flush_marks() {
    std::stable_sort(marks_.begin(), marks_.end(),
                     [](const Mark& a, const Mark& b) { return a.combining < b.combining; });
    for (const Mark& mark : marks_) emit(mark.code);
    marks_.clear();
  }

  // The last two steps: lower case, then what the splitter makes of each resulting character.
  void emit(char32_t code) {
    Mapped mapped{{code}, 1};
    if (options_.lower_case) mapped = unicode::lower_case(code, Rules::kHf);
    for (int i = 0; i < mapped.length; ++i) {
      const uint16_t flags = unicode::char_class(mapped.code[i]).flags;
      if ((flags & unicode::kSpace) != 0) {
        sink_.blank(mapped.code[i]);
      } else if ((flags & unicode::kPunct) != 0) {
        sink_.isolated(mapped.code[i]);
      } else {
        sink_.word_char(mapped.code[i]);
      }
    }
  }

  struct Mark {
    uint8_t combining;
    char32_t code;
  };

  const BertNormalizer& normalizer_;
  const NormalizerOptions& options_;
  std::string_view text_;
  Sink& sink_;
  size_t at_ = 0;
  std::vector<Mark> marks_;
};

BertNormalizer::BertNormalizer(const NormalizerOptions& options) : options_(options), table_(kTableSize) {
  for (char32_t code = 0; code < kTableSize; ++code) table_[code] = resolve(code);
  for (char32_t code = 0; code < 0x80; ++code) {
    ascii_lower_[code] = static_cast<char>(table_[code] & kCodeMask);
    is_ascii_word_char_[code] = table_[code] >> kKindShift == kWordChar;
  }
}

uint32_t BertNormalizer::resolve(char32_t code) const {
  const auto make = [](Kind kind, char32_t result) { return (static_cast<uint32_t>(kind) << kKindShift) | result; };
  const CharClass raw = unicode::char_class(code);
  if (options_.clean_text && (raw.flags & unicode::kDrop) != 0) return make(kDropped, 0);
  if (options_.clean_text && (raw.flags & unicode::kSpace) != 0) return make(kBlank, U' ');
  const bool is_ideograph = options_.handle_chinese_chars && (raw.flags & unicode::kCjk) != 0;

  char32_t result = code;
  if (options_.strip_accents) {
    const Mapped mapped = unicode::decompose(code, Rules::kHf);
    int kept = 0;
    for (int i = 0; i < mapped.length; ++i) {
      const CharClass char_class = unicode::char_class(mapped.code[i]);
      if ((char_class.flags & unicode::kMark) != 0) continue;
      if (char_class.combining != 0) return make(kComplex, code);
      result = mapped.code[i];
      ++kept;
    }
    if (kept == 0) return make(kDropped, 0);
    if (kept > 1) return make(kComplex, code);
  }
  if (options_.lower_case) {
    const Mapped mapped = unicode::lower_case(result, Rules::kHf);
    if (mapped.length != 1) return make(kComplex, code);
    result = mapped.code[0];
  }
  const uint16_t flags = unicode::char_class(result).flags;
  if (is_ideograph) return make(kIdeograph, result);
  if ((flags & unicode::kSpace) != 0) return make(kBlank, result);
  if ((flags & unicode::kPunct) != 0) return make(kIsolated, result);
  return make(kWordChar, result);
}

void BertNormalizer::for_each_word(std::string_view text, std::string* buffer, WordVisitor* visitor) const {
  WordSink sink(buffer, visitor);
  Pass<WordSink>(*this, text, &sink).run();
  sink.blank(U' ');
}

std::string BertNormalizer::normalize(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  TextSink sink(&out);
  Pass<TextSink>(*this, text, &sink).run();
  return out;
}

std::vector<std::string> words_of(const BertNormalizer& normalizer, std::string_view text) {
  struct Collector : WordVisitor {
    bool word(std::string_view word, int32_t /*characters*/) override {
      words.emplace_back(word);
      return true;
    }
    std::vector<std::string> words;
  };
  Collector collector;
  std::string buffer;
  normalizer.for_each_word(text, &buffer, &collector);
  return collector.words;
}

}  // namespace bertft
