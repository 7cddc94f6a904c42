#pragma once

#include <memory>
#include <span>
#include <vector>

#include "text/batches.h"
#include "text/permutation.h"

namespace synthesizer {

/// T5's way to make an example of running text: spans of tokens are taken out, a sentinel stands for each,
/// and the model has to say what they were.
///
///     text     Thank you for inviting me to your party last week .
///     input    Thank you <X> me to your party <Y> week .  </s>
///     target   <X> for inviting <Y> last </s>
struct SpanCorruption {
  double share = 0.15;         ///< of the tokens that are taken out
  double mean_length = 3;      ///< of a span
  int64_t first_sentinel = 0;  ///< sentinel n is the token first_sentinel + n
  int64_t sentinels = 100;     ///< at most so many spans
  int64_t begin = 0, end = 0;  ///< around the target; the end is put behind the input too
};

struct Corrupted {
  std::vector<int64_t> input;   ///< … end
  std::vector<int64_t> target;  ///< begin … end
};

/// At least one span is taken out and at least one token stays; a text of one token loses it. Spans never
/// touch, the first token stays and the last goes (as in T5), and every way to cut the spans is equally
/// likely.
Corrupted corrupt(std::span<const int64_t> tokens, const SpanCorruption& how, RandomNumbers& random);

/// How many tokens of text give an input of at most `limit` tokens, the end included.
int64_t text_length(int64_t limit, const SpanCorruption& how);

/// Windows of running text, each corrupted; which spans go depends on the batch's number and the row alone.
/// Field 0 is the input, field 1 the target.
class CorruptedBatches : public Batches {
 public:
  /// `windows`: field 1 of its batches is the text (StreamBatches).
  CorruptedBatches(std::unique_ptr<Batches> windows, SpanCorruption how, uint64_t seed)
      : windows_(std::move(windows)), how_(how), seed_(seed) {}

  int64_t per_epoch() const override { return windows_->per_epoch(); }
  Batch make(int64_t sequence) const override;
  std::string describe(const Batch& batch) const override { return windows_->describe(batch); }

 private:
  std::unique_ptr<Batches> windows_;
  SpanCorruption how_;
  uint64_t seed_;
};

}  // namespace synthesizer
