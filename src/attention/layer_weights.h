#pragma once

#include <algorithm>
#include <vector>

#include "attention/matrix_form.h"

namespace synthesizer {

/// Everything that one layer computes with, in the order of Mixer::parameters(): the tensors themselves in
/// training, and forms made from them once where the layer was prepared for inference (Mixer::prepare).
struct LayerWeights {
  std::vector<at::Tensor> tensors;
  std::vector<MatrixFormPtr>
      forms;  ///< none in training; else one per tensor, empty where the tensor itself serves
  /// Of a prepared causal layer whose weights depend on no token: these weights, H×N×N; undefined otherwise.
  at::Tensor precomputed_weights;

  /// Whether a form replaces some tensor: the tensors must not be changed or trained then.
  bool prepared() const {
    return std::any_of(forms.begin(), forms.end(), [](const MatrixFormPtr& form) { return form != nullptr; });
  }
};

}  // namespace synthesizer
