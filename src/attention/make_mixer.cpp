#include "attention/frame.h"
#include "attention/mixer.h"

namespace synthesizer {

std::unique_ptr<Mixer> make_mixer(AttentionOptions options) {
  return std::make_unique<Frame>(std::move(options));
}

}  // namespace synthesizer
