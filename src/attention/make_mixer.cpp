#include <fmt/format.h>

#include "attention/baselines.h"
#include "attention/mixer.h"
#include "attention/multi_head_attention.h"

namespace synthesizer {

std::unique_ptr<Mixer> make_mixer(AttentionOptions options) {
  const auto named = find_baseline(options.attention);
  if (!named) return std::make_unique<MultiHeadAttention>(std::move(options));
  const Baseline& baseline = *named->baseline;
  if (options.causal && !baseline.causal) {
    invalid(fmt::format("{} cannot be causal: make the layer with causal = false, for an encoder",
                        baseline.name));
  }
  if (named->size) {
    // Copies of a layer are made from its options, which have the size already.
    if (options.options.integer(baseline.size, *named->size) != *named->size) {
      invalid(fmt::format("attention '{}' and option '{}' = {} disagree: give one of them", options.attention,
                          baseline.size, options.options.integer(baseline.size, 0)));
    }
    options.options.set(baseline.size, *named->size);
  }
  return baseline.make(std::move(options));
}

}  // namespace synthesizer
