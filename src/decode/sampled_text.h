#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "decode/options.h"
#include "decode/random_stream.h"

namespace synthesizer {

/// One text that is sampled while others come and go (continuous batching): what it has to be fed, and what
/// was drawn. It gets the tokens that sample() draws for its prompt alone over SlidingSteps: where the
/// model's positions are used up, it begins again with the latter half of what it has read.
class SampledText {
 public:
  /// The prompt has at least one token. At most `tokens` are drawn, and none after `end` (-1: there is none).
  /// `max_length`: positions of the model.
  SampledText(std::vector<int64_t> prompt, int64_t tokens, int64_t end, int64_t max_length,
              const DecodeOptions& options);

  bool done() const { return done_; }
  /// True where the end was drawn, false where the number of tokens was reached.
  bool ended() const { return ended_; }
  const std::vector<int64_t>& drawn() const { return drawn_; }

  /// Before a step: the next token to feed. `restart`: the slot must begin at position 0 again first.
  struct Feed {
    int64_t token;
    bool restart;
    bool wanted;  ///< the logits after it are wanted: pass them to draw_token()
  };
  Feed feed();

  /// The logits after the last token fed. Throws std::runtime_error where they are not a number.
  void draw_token(std::span<const float> logits);

 private:
  std::deque<int64_t> pending_;  ///< to be fed
  std::vector<int64_t> read_;    ///< fed since position 0
  std::vector<int64_t> drawn_;
  int64_t limit_, end_, max_length_;
  DecodeOptions options_;
  RandomStream random_;
  bool done_ = false, ended_ = false;
};

}  // namespace synthesizer
