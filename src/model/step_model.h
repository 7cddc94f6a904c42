#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// The interface of models for decoding: one token after another. Each row is a separate sentence; rows do
/// not influence each other.
class StepModel {
 public:
  virtual ~StepModel() = default;

  virtual int64_t rows() const = 0;
  virtual int64_t max_length() const = 0;  ///< how many steps can be made at most

  /// Feeds one token per row (B, int64) and gives the logits of the next, B×V float32.
  virtual at::Tensor step(const at::Tensor& tokens) = 0;

  /// A token that is never to be chosen, though it has a logit like others; -1: there is none.
  virtual int64_t forbidden() const { return -1; }
  /// Row n continues the former row indices[n] (int64, any number of rows): selects and reorders beams, drops
  /// finished sentences.
  virtual void reorder(const at::Tensor& indices) = 0;
};

}  // namespace synthesizer
