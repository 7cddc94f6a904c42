#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "interop/foreign_weights.h"

namespace torch::nn {
class Module;
}

namespace synthesizer {

/// How a tensor of another program's model becomes one of ours.
using TensorChange = std::function<at::Tensor(const at::Tensor&)>;

/// One tensor of our model and where it comes from.
struct TensorRule {
  std::string ours, theirs;
  TensorChange change = {};  ///< none: the tensor as it is
};
using TensorRules = std::vector<TensorRule>;

/// The rules of one layer for so many of them: "{}" in the names is the layer's number.
void add_layers(TensorRules& rules, int64_t layers, const TensorRules& of_one);

TensorChange transposed();
TensorChange times(double factor);
/// Part n of `parts` equal ones along the last dimension, then transposed (GPT-2's query, key and value).
TensorChange part_of_columns(int64_t n, int64_t parts);
/// With zeros behind it up to that size, in dimension 0 or 1.
TensorChange padded(int64_t dimension, int64_t size);
/// One change, then another.
TensorChange then(TensorChange first, TensorChange second);

/// Fills every tensor of the model. Throws InvalidInput where one is missing, has another shape, or where
/// tensors are left over that the model has no place for.
void fill_model(torch::nn::Module& model, const TensorRules& rules, ForeignWeights& weights);

}  // namespace synthesizer
