#include <fmt/format.h>

#include "attention/frame.h"
#include "attention/mixer.h"
#include "attention/rivals.h"

namespace synthesizer {

std::unique_ptr<Mixer> make_mixer(AttentionOptions options) {
  const auto named = find_rival(options.attention);
  if (!named) return std::make_unique<Frame>(std::move(options));
  const Rival& rival = *named->rival;
  if (options.causal && !rival.causal) {
    invalid(
        fmt::format("{} cannot be causal: make the layer with causal = false, for an encoder", rival.name));
  }
  if (named->size) {
    // Copies of a layer are made from its options, which have the size already.
    if (options.options.whole(rival.size, *named->size) != *named->size) {
      invalid(fmt::format("attention '{}' and option '{}' = {} disagree: give one of them", options.attention,
                          rival.size, options.options.whole(rival.size, 0)));
    }
    options.options.set(rival.size, *named->size);
  }
  return rival.make(std::move(options));
}

}  // namespace synthesizer
