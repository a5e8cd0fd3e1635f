// Which part of one or two token sequences is kept when they are longer than the room between the special tokens.
// Pure functions of lengths; the ids themselves are cut by Tokenizer.
#pragma once

#include <cstddef>

#include "tokenize/options.h"

namespace bertft {

struct KeptLengths {
  size_t a;
  size_t b;
};

// How many tokens of sequences of `a` and `b` tokens are kept so that their sum is at most `room`. kHf follows
// utils/truncation.rs of the reference (a tie gives b the extra token), kGoogle _truncate_seq_pair of run_classifier.py
// (gives it to a). Throws DataError for kOnlyFirst when no token of the first sequence would be left.
KeptLengths kept_lengths(size_t a, size_t b, size_t room, Truncation truncation, Compat compat);

// How many of `kept` tokens come from the head of a sequence that was cut by kHeadTail; the others are its last ones.
// A quarter, rounded up: 128 of 510, the best split found by Sun et al. 2019, "How to Fine-Tune BERT", section 5.3.1.
constexpr size_t head_length(size_t kept) { return (kept + 3) / 4; }

}  // namespace bertft
