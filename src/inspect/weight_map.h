#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/choice.h"

namespace synthesizer {

/// The attention weights of one head for one text: what each row (query) takes from each column (key).
struct WeightMap {
  int64_t rows = 0, columns = 0;
  bool causal = false;         ///< row i sees columns 0 … i
  std::vector<float> weights;  ///< row after row

  int64_t visible(int64_t row) const { return causal ? row + 1 : columns; }
  double at(int64_t row, int64_t column) const {
    return weights[static_cast<size_t>(row * columns + column)];
  }
};

/// Where in a model attention is computed; cross: from decoder to encoder.
enum class AttentionPlace { encoder, decoder, cross };
inline Choices choices(AttentionPlace) {
  static constexpr ChoiceName names[] = {{"encoder"}, {"decoder"}, {"cross"}};
  return names;
}

/// One attention layer, with the weights captured in a forward pass.
struct CapturedLayer {
  AttentionPlace stack = AttentionPlace::encoder;
  size_t number = 0;             ///< in its stack, from 0; with recurrent depth the time it was applied
  std::string layer;             ///< whose parameters these are: "encoder.layers.0"
  std::string attention;         ///< "R+V"
  std::vector<WeightMap> heads;  ///< none where it has no weights: convolutions, Linformer

  /// For people: "encoder layer 1".
  std::string title() const { return choice_name(stack) + " layer " + std::to_string(number + 1); }
};

}  // namespace synthesizer
