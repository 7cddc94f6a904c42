#pragma once

#include <span>
#include <vector>

#include "decode/candidates.h"
#include "decode/hypothesis.h"

namespace synthesizer {

/// The beam of one sentence: live and finished hypotheses. It is independent of batching.
///
/// As in fairseq: of the 2·beam best continuations, those with the end token are finished if they are among
/// the first `beam`, and the best `beam` others go on. As each hypothesis ends in one way, enough others are
/// left.
///
/// Log-probabilities are summed in double: it costs nothing for so few numbers, and in float32 the sums of
/// long sentences would lose the digits that tell similar hypotheses apart, or make ties of them.
class SentenceBeam {
 public:
  /// A hypothesis that goes on.
  struct Live {
    std::vector<int64_t> tokens;
    double log_probability = 0;
    size_t parent = 0;  ///< which live hypothesis, before the last step, it continues
  };

  /// The options must outlive it. `limit`: how many tokens at most.
  SentenceBeam(int64_t end, int64_t limit, const DecodeOptions& options);

  /// How many choices advance() wants for each live hypothesis: 2·beam may be needed beside the end.
  static int64_t choices(const DecodeOptions& options) { return 2 * options.beam + 1; }

  /// One token more. `best`: the best tokens after each live hypothesis; `end_log_probability`: the end's.
  void advance(std::span<const std::vector<Choice>> best, std::span<const float> end_log_probability);

  bool done() const;
  const std::vector<Live>& live() const { return live_; }  ///< best first
  /// The n best, best first.
  std::vector<Hypothesis> results() const;

 private:
  struct Candidate {
    size_t parent;
    int64_t token;
    double log_probability;  ///< of the whole hypothesis
  };

  std::vector<Candidate> candidates(std::span<const std::vector<Choice>> best,
                                    std::span<const float> end_log_probability) const;
  void finish(const Candidate& candidate);

  const DecodeOptions& options_;
  int64_t end_, limit_;
  int64_t length_ = 0;  ///< of the live hypotheses
  std::vector<Live> live_;
  std::vector<Hypothesis> finished_;  ///< best first, at most `beam`
};

}  // namespace synthesizer
