#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace synthesizer {

/// One attention of a model at work: which it is, and its weights, which are formed only if they are asked
/// for, from the very input it gets.
struct Sight {
  std::string layer;      ///< "encoder.layers.0"
  std::string part;       ///< "attention" or "cross"
  std::string attention;  ///< "R+V"
  bool causal = false;
  /// B×H×L×M, or 1×H×L×M where the batch shares them; empty where there are none (convolutions, Linformer).
  std::function<at::Tensor()> weights;
};

/// Called for every attention of a forward pass, in the order they are computed, while it is set on this
/// thread. A layer that is applied several times (recurrent depth) is called as often.
using Viewer = std::function<void(const Sight&)>;

/// Sets a viewer for as long as it lives.
class Viewing {
 public:
  explicit Viewing(Viewer viewer);
  ~Viewing();
  Viewing(const Viewing&) = delete;
  Viewing& operator=(const Viewing&) = delete;

 private:
  Viewer before_;
};

/// Whether somebody looks: nothing is made for nobody.
bool viewed();
void show(const Sight& sight);

}  // namespace synthesizer
