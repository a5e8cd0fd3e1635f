#include "tokenize/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "tokenize/bert_normalizer.h"
#include "tokenize/google_normalizer.h"
#include "tokenize/tokenizer_spec.h"
#include "tokenize/truncation.h"
#include "tokenize/wordpiece.h"

namespace bertft {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
constexpr NormalizerOptions kSplitOnly = {
    .clean_text = false, .handle_chinese_chars = false, .strip_accents = false, .lower_case = false};

// Memory that one thread uses again for text after text.
struct Workspace {
  std::string word;
  std::vector<AddedTokens::Span> spans;
  std::vector<AddedTokens::Span> normalized_spans;
  std::vector<int32_t> a;
  std::vector<int32_t> b;
};

Workspace& workspace() {
  thread_local Workspace workspace;
  return workspace;
}

// Turns words into ids until there are `limit` of them.
class PieceCollector : public WordVisitor {
 public:
  PieceCollector(const WordPiece& wordpiece, size_t limit, std::vector<int32_t>* ids)
      : wordpiece_(wordpiece), limit_(limit), ids_(*ids) {}

  bool wants_more() const { return ids_.size() < limit_; }
  bool word(std::string_view word, int32_t characters) override {
    wordpiece_.tokenize(word, characters, &ids_);
    return wants_more();
  }

 private:
  const WordPiece& wordpiece_;
  size_t limit_;
  std::vector<int32_t>& ids_;
};

// How the kept tokens of a sequence are taken from all of them.
struct Cut {
  Truncation truncation;
  bool truncate_left;
};

void append_kept(const std::vector<int32_t>& ids, size_t kept, const Cut& cut, std::vector<int32_t>* out) {
  const auto length = static_cast<ptrdiff_t>(ids.size());
  ptrdiff_t head = static_cast<ptrdiff_t>(std::min(kept, ids.size()));
  ptrdiff_t tail = 0;
  if (kept < ids.size() && (cut.truncation == Truncation::kHeadTail || cut.truncate_left)) {
    const size_t head_size = cut.truncation == Truncation::kHeadTail ? head_length(kept) : 0;
    head = static_cast<ptrdiff_t>(head_size);
    tail = static_cast<ptrdiff_t>(kept - head_size);
  }
  out->insert(out->end(), ids.begin(), ids.begin() + head);
  out->insert(out->end(), ids.begin() + (length - tail), ids.end());
}

// The room for tokens beside `special` special ones.
size_t room_in(const EncodeOptions& options, int32_t special) {
  if (options.max_length == 0) return kNoLimit;
  if (options.max_length < special) {
    throw ConfigError(fmt::format("max_length is {}, but the special tokens of a {} need {}: use a larger max_length",
                                  options.max_length, special == 2 ? "text" : "pair of texts", special));
  }
  return static_cast<size_t>(options.max_length - special);
}

}  // namespace

struct Tokenizer::State {
  State(TokenizerSpec&& from, Compat compat_wanted)
      : compat(compat_wanted),
        spec(std::move(from)),
        normalizer(spec.normalizer),
        wordpiece(spec.vocab, spec.wordpiece) {
    spec.added.finish(normalizer);
    if (spec.added.has_normalized()) splitter.emplace(kSplitOnly);
  }

  // Reading may stop at this many tokens without any effect on what is kept.
  size_t limit(size_t room, const EncodeOptions& options) const {
    const bool needs_end = options.truncation == Truncation::kHeadTail || spec.truncate_left || options.count_exactly;
    return room == kNoLimit || needs_end ? kNoLimit : room + 1;
  }

  Compat compat;
  TokenizerSpec spec;
  BertNormalizer normalizer;
  WordPiece wordpiece;
  std::optional<BertNormalizer> splitter;  // for text that is normalized already
};

Tokenizer::Tokenizer(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::string& folder, Compat compat) {
  return Tokenizer(std::make_unique<const State>(read_tokenizer_spec(folder, compat), compat));
}

void Tokenizer::append_ids(std::string_view text, size_t limit, std::vector<int32_t>* ids) const {
  Workspace& work = workspace();
  PieceCollector collector(state_->wordpiece, limit, ids);
  if (state_->compat == Compat::kGoogle) {
    for_each_google_word(text, state_->spec.normalizer.lower_case, &collector);
    return;
  }
  const AddedTokens& added = state_->spec.added;
  work.spans.clear();
  added.split(text, AddedTokens::Stage::kRaw, state_->spec.keep_special_text, &work.spans);
  for (const AddedTokens::Span& span : work.spans) {
    if (!collector.wants_more()) return;
    if (span.id >= 0) {
      ids->push_back(span.id);
    } else if (!added.has_normalized()) {
      state_->normalizer.for_each_word(span.text, &work.word, &collector);
    } else {
      const std::string normalized = state_->normalizer.normalize(span.text);
      work.normalized_spans.clear();
      added.split(normalized, AddedTokens::Stage::kNormalized, state_->spec.keep_special_text, &work.normalized_spans);
      for (const AddedTokens::Span& part : work.normalized_spans) {
        if (part.id >= 0) {
          ids->push_back(part.id);
        } else {
          state_->splitter->for_each_word(part.text, &work.word, &collector);
        }
      }
    }
  }
}

std::vector<int32_t> Tokenizer::ids_without_special(std::string_view text) const {
  std::vector<int32_t> ids;
  append_ids(text, kNoLimit, &ids);
  return ids;
}

void Tokenizer::encode(std::string_view text, const EncodeOptions& options, Encoding* encoding) const {
  constexpr int32_t kSpecial = 2;
  const size_t room = room_in(options, kSpecial);
  std::vector<int32_t>& all = workspace().a;
  all.clear();
  append_ids(text, state_->limit(room, options), &all);
  encoding->untruncated_length = static_cast<int32_t>(all.size()) + kSpecial;
  encoding->ids.assign(1, cls_id());
  append_kept(all, std::min(all.size(), room), {options.truncation, state_->spec.truncate_left}, &encoding->ids);
  encoding->ids.push_back(sep_id());
  encoding->token_types.assign(encoding->ids.size(), 0);
}

void Tokenizer::encode_pair(std::string_view a, std::string_view b, const EncodeOptions& options,
                            Encoding* encoding) const {
  constexpr int32_t kSpecial = 3;
  const size_t room = room_in(options, kSpecial);
  const size_t limit = state_->limit(room, options);
  Workspace& work = workspace();
  work.b.clear();
  append_ids(b, limit, &work.b);
  if (work.b.empty() && state_->compat == Compat::kGoogle) {
    encode(a, options, encoding);
    return;
  }
  work.a.clear();
  append_ids(a, limit, &work.a);
  if (work.a.size() > room && work.b.size() > room && room % 2 == 1 && limit != kNoLimit) {
    // The longer one gets the odd token, so both must be read to their ends.
    work.a.clear();
    work.b.clear();
    append_ids(a, kNoLimit, &work.a);
    append_ids(b, kNoLimit, &work.b);
  }
  encoding->untruncated_length = static_cast<int32_t>(work.a.size() + work.b.size()) + kSpecial;
  const KeptLengths kept = room == kNoLimit
                               ? KeptLengths{work.a.size(), work.b.size()}
                               : kept_lengths(work.a.size(), work.b.size(), room, options.truncation, state_->compat);
  const Cut cut{options.truncation, state_->spec.truncate_left};
  encoding->ids.assign(1, cls_id());
  append_kept(work.a, kept.a, cut, &encoding->ids);
  encoding->ids.push_back(sep_id());
  encoding->token_types.assign(encoding->ids.size(), 0);
  append_kept(work.b, kept.b, cut, &encoding->ids);
  encoding->ids.push_back(sep_id());
  encoding->token_types.resize(encoding->ids.size(), 1);
}

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  Encoding encoding;
  encode(text, options, &encoding);
  return encoding;
}

Encoding Tokenizer::encode_pair(std::string_view a, std::string_view b, const EncodeOptions& options) const {
  Encoding encoding;
  encode_pair(a, b, options, &encoding);
  return encoding;
}

const std::string& Tokenizer::piece(int32_t id) const {
  static const std::string kNothing;
  check(id >= 0 && id < vocab_size(), "piece: id out of range");
  if (const std::string* added = state_->spec.added.content(id)) return *added;
  return id < state_->spec.vocab.size() ? state_->spec.vocab.piece(id) : kNothing;
}

int32_t Tokenizer::vocab_size() const { return std::max(state_->spec.vocab.size(), state_->spec.added.max_id() + 1); }
const SpecialIds& Tokenizer::special_ids() const { return state_->spec.ids; }

uint64_t Tokenizer::hash() const {
  const TokenizerSpec& spec = state_->spec;
  const NormalizerOptions& n = spec.normalizer;
  std::string text =
      fmt::format("{} {}{}{}{} {} {} {} {} {}", static_cast<int>(state_->compat), n.clean_text, n.handle_chinese_chars,
                  n.strip_accents, n.lower_case, spec.wordpiece.max_input_chars_per_word,
                  spec.wordpiece.continuation_prefix, spec.keep_special_text, spec.truncate_left, spec.ids.unk);
  text += fmt::format(" {} {}\n{}", cls_id(), sep_id(), spec.added.describe());
  for (int32_t id = 0; id < spec.vocab.size(); ++id) text += spec.vocab.piece(id) + '\n';
  return hash64(text);
}

bool Tokenizer::lower_case() const { return state_->spec.normalizer.lower_case; }
Compat Tokenizer::compat() const { return state_->compat; }
int64_t Tokenizer::model_max_length() const { return state_->spec.model_max_length; }
const std::vector<std::string>& Tokenizer::files() const { return state_->spec.files; }
const std::vector<std::string>& Tokenizer::notes() const { return state_->spec.notes; }

}  // namespace bertft
