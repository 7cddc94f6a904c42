#pragma once

#include <string>

#include "interop/onnx_model.h"

namespace synthesizer {

/// Adaptive computation time as nodes: what Halting computes (model/halting.h), over all applications of the
/// layer. (Ours leaves out those that no position needs any more, which changes nothing.)
class OnnxHalting {
 public:
  /// `name`: the stack's, "encoder".
  OnnxHalting(OnnxModel& model, std::string name) : model_(model), name_(std::move(name)) {}

  /// Before application n (from 0), with what goes into it.
  void decide(const OnnxValue& entering, int64_t n);
  /// After it: the next state.
  OnnxValue apply(const OnnxValue& before, const OnnxValue& after);
  const OnnxValue& output() const { return output_; }

 private:
  OnnxModel& model_;
  std::string name_;
  OnnxValue sum_, share_;            ///< float64, B×L×1; of the shares so far, and this one
  OnnxValue running_, was_running_;  ///< boolean, B×L×1
  OnnxValue output_;                 ///< B×L×D
};

}  // namespace synthesizer
