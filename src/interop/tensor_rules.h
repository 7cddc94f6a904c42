#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "interop/foreign_weights.h"
#include "train/named_tensors.h"

namespace torch::nn {
class Module;
}

namespace synthesizer {

/// How a tensor of another program's model becomes one of ours, and one of ours theirs.
struct TensorChange {
  using Function = std::function<at::Tensor(const at::Tensor&)>;
  using Shape = std::vector<int64_t>;
  Function to_ours = {}, to_theirs = {};  ///< none: the tensor as it is
  int64_t part = 0, parts = 1;            ///< theirs holds so many side by side, in its last dimension
  /// The shape that to_ours() expects where ours has this one; none: the same.
  std::function<Shape(Shape)> their_shape = {};
};

/// One tensor of our model and where it comes from. The same rules serve import and export.
struct TensorRule {
  std::string ours, theirs;
  TensorChange change = {};
  /// Theirs changes nothing that the model computes, and ours does not have it: it is not read, and zeros are
  /// written.
  bool without_effect = false;
};
using TensorRules = std::vector<TensorRule>;

/// The rules of one layer for so many of them: "{}" in the names is the layer's number.
void add_layers(TensorRules& rules, int64_t layers, const TensorRules& of_one);

TensorChange transposed();
TensorChange times(double factor);
/// A vector that they store as a matrix of one row.
TensorChange one_row();
/// Part n of `parts` equal ones along the last dimension, then transposed (GPT-2's query, key and value).
TensorChange part_of_columns(int64_t n, int64_t parts);
/// Theirs has `from` rows (dimension 0) or columns (1), and zeros behind them make `size`. On the way back
/// the zeros stay.
TensorChange padded(int64_t dimension, int64_t from, int64_t size);
/// One change, then another; of parts, the first alone may be one.
TensorChange then(const TensorChange& first, const TensorChange& second);

/// Throws InvalidInput, with the shapes, where their tensor of that name is missing or has another shape.
void check_shape(const ForeignWeights& weights, const std::string& name, const TensorChange::Shape& shape);

/// Throws InvalidInput where the weights have fewer layers; `tensor` is one that every layer has, "{}" the
/// layer's number, counted from `first`. To be called before rules or a model of so many layers are made.
void check_layers(const ForeignWeights& weights, const std::string& tensor, int64_t layers,
                  const TensorChange::Shape& shape, int64_t first = 0);

/// Fills every tensor of the model. Throws InvalidInput where one is missing, has another shape, or where
/// tensors are left over that the model has no place for.
void fill_model(torch::nn::Module& model, const TensorRules& rules, ForeignWeights& weights);

/// The way back: every tensor that the rules name, as float32. A bias that our model does not have is zero,
/// one number for each row of the weight beside it.
NamedTensors foreign_tensors(const NamedTensors& ours, const TensorRules& rules);

}  // namespace synthesizer
