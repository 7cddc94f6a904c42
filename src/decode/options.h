#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/choice.h"

namespace synthesizer {

/// How log-probabilities of hypotheses of different lengths are compared; see DecodeOptions.
enum class LengthNormalization { power, gnmt };
inline Choices choices(LengthNormalization) {
  static constexpr ChoiceName names[] = {{"power", "Marian, fairseq"}, {"gnmt", "Tensor2Tensor, the paper"}};
  return names;
}

/// How text is made from a model. decode_option_list() has their names, ranges and help.
struct DecodeOptions {
  int64_t beam = 4;  ///< hypotheses per sentence; 1 is greedy search

  /// Hypotheses of different lengths are compared by log-probability / norm, where length counts the end
  /// token: power: norm = length^alpha, as in Marian and fairseq; gnmt: ((5 + length) / 6)^alpha, as in
  /// GNMT and Tensor2Tensor. Alpha 0 compares the log-probabilities themselves, a larger one favours longer
  /// outputs.
  double length_penalty = 0.6;
  LengthNormalization length_normalization = LengthNormalization::power;

  /// true: a sentence is done when `beam` hypotheses are finished, as in fairseq. false: when besides no
  /// unfinished one can become better than the worst of them. What follows has at most probability 1, so none
  /// can exceed its log-probability so far over the largest norm it may reach, which for alpha ≥ 0 is that of
  /// the maximum length (fairseq's bound under its former --no-early-stop). Beam 1 stops at its first.
  bool early_stopping = true;

  /// Beam search by the rules of the package transformers: at the maximum length the end costs nothing (it
  /// has its log-probability otherwise, as in fairseq), and without early_stopping unfinished hypotheses are
  /// judged by the norm of their present length, so that a longer one that would be better may be missed.
  bool transformers_rules = false;

  /// Whether an output ends at the maximum length, as in Marian and fairseq. Otherwise it is cut there: its
  /// last token is whichever is best, and no end is counted in its log-probability or its length.
  bool forced_end = true;

  /// After tokens were forbidden (a tokenizer's forbidden one, repeated n-grams, the end before the minimum
  /// length), those that are left have the sum of probabilities 1. Beam search only: greedy search finds the
  /// same, and its log-probabilities stay those of the model.
  bool renormalize = false;

  /// Of the output, end not counted. Before the minimum no end is allowed, unless it is the only token
  /// possible; a maximum of 0 leaves it to the caller, otherwise the smaller one of both holds.
  int64_t min_length = 0;
  int64_t max_length = 0;

  /// No n tokens in a row occur twice in an output (Paulus et al. 2017); 0: any may. Summaries need it.
  int64_t no_repeat_ngram = 0;

  int64_t nbest = 1;  ///< hypotheses returned a sentence, at most `beam`

  // Sampling only.
  double temperature = 1;  ///< 0: always the most likely token
  int64_t top_k = 0;       ///< only the k most likely tokens; 0: all
  double top_p = 1;        ///< of these, the fewest whose probabilities reach p; at least one
  uint64_t seed = 1;

  bool operator==(const DecodeOptions&) const = default;
};

/// One option of decoding. The keys of `[decode]`, the options of `synth`, the keyword arguments in Python
/// and check() all follow from this one list.
struct DecodeOption {
  using Member = std::variant<bool DecodeOptions::*, int64_t DecodeOptions::*, uint64_t DecodeOptions::*,
                              double DecodeOptions::*, LengthNormalization DecodeOptions::*>;
  enum class Use {
    search,    ///< of greedy and beam search; a key of recipes
    output,    ///< what is returned of a search; given with each call
    sampling,  ///< of drawn text; given with each call
  };

  std::string name;  ///< "length_penalty"
  Member member;
  Use use;
  std::string help;
  double least = 0, most = 0;  ///< of numbers

  std::string key() const { return "decode." + name; }  ///< in recipes and messages
};
const std::vector<DecodeOption>& decode_option_list();

/// Throws InvalidInput where a value is out of its range; the message names its key.
void check(const DecodeOptions& options);

}  // namespace synthesizer
