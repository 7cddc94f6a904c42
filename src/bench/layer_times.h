#pragma once

#include <string>
#include <vector>

#include "attention/mixer.h"
#include "attention/options.h"

namespace synthesizer::bench {

/// Layers that are timed side by side.
struct LayerBench {
  AttentionOptions layer;               ///< of all of them but for its `attention`
  std::vector<std::string> attentions;  ///< empty: every variant, and some mixtures
  int64_t batch = 8;                    ///< samples
  int64_t length = 0;                   ///< of a sample; 0: the layer's max_length
  int repeats = 9;                      ///< rounds

  int64_t sample_length() const { return length > 0 ? length : layer.max_length; }
};

struct LayerTimes {
  std::string attention;     ///< "R+V"
  Count count;               ///< for one sample
  double forward, training;  ///< milliseconds, medians; training: forward and backward
};

std::vector<LayerTimes> time_layers(const LayerBench& bench);

/// How many times faster one of our layers is than another.
struct SpeedRatio {
  std::string attention, over;
  double forward, training;
};

/// The pairs that tell what a table costs and what saving products gains: R over V, FR over R, R+V over V, as
/// far as both were timed.
std::vector<SpeedRatio> speed_ratios(const std::vector<LayerTimes>& times);

}  // namespace synthesizer::bench
