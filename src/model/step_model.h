#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// A model that is asked for one token after another: what decoding needs to know of it. Each row is a
/// sentence of its own; rows never influence each other.
class StepModel {
 public:
  virtual ~StepModel() = default;

  virtual int64_t rows() const = 0;
  virtual int64_t max_length() const = 0;  ///< how many steps can be made at most

  /// Feeds one token a row (B, int64) and gives the logits of the next, B×V float32.
  virtual at::Tensor step(const at::Tensor& tokens) = 0;

  /// Row n goes on from where row indices[n] was (int64, any number of rows): beams that go on, sentences
  /// that are done.
  virtual void reorder(const at::Tensor& indices) = 0;
};

}  // namespace synthesizer
