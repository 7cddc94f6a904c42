#include "decode/sampled_text.h"

#include <algorithm>

#include "base/error.h"
#include "decode/candidates.h"
#include "decode/draw.h"

namespace synthesizer {

SampledText::SampledText(std::vector<int64_t> prompt, int64_t tokens, int64_t end, int64_t max_length,
                         const DecodeOptions& options)
    : pending_(prompt.begin(), prompt.end()),
      limit_(options.max_length > 0 ? std::min(tokens, options.max_length) : tokens),
      end_(end),
      max_length_(max_length),
      options_(options),
      random_(options.seed, 0) {
  check(options);
  if (prompt.empty()) invalid("the prompt is empty: give it at least one token");
  done_ = limit_ <= 0;
}

SampledText::Feed SampledText::feed() {
  bool restart = read_.empty();
  if (static_cast<int64_t>(read_.size()) == max_length_) {  // as SlidingSteps::step does
    const auto kept = static_cast<std::ptrdiff_t>(read_.size() / 2);
    pending_.insert(pending_.begin(), read_.end() - kept, read_.end());
    read_.clear();
    restart = true;
  }
  const int64_t token = pending_.front();
  pending_.pop_front();
  read_.push_back(token);
  return {token, restart, pending_.empty()};
}

void SampledText::draw_token(std::span<const float> logits) {
  const auto count = static_cast<int64_t>(drawn_.size());
  const auto weights = sampling_candidates(logits, options_, count < options_.min_length ? end_ : -1);
  if (weights.empty()) throw_not_finite(0);
  const int64_t token = synthesizer::draw_token(weights, random_);
  if (end_ >= 0 && token == end_) {
    done_ = ended_ = true;
    return;
  }
  drawn_.push_back(token);
  pending_.push_back(token);
  done_ = count + 1 == limit_;
}

}  // namespace synthesizer
