#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/layer_weights.h"
#include "base/error.h"

namespace synthesizer {

/// The distribution a parameter's first values are drawn from.
struct Init {
  enum class Kind { zero, normal, uniform };
  Kind kind = Kind::zero;
  double spread = 0;  ///< standard deviation of normal, half width of uniform

  static Init zero() { return {}; }
  static Init normal(double std) { return {Kind::normal, std}; }
  static Init xavier(int64_t fan_in, int64_t fan_out);  ///< Glorot's uniform
};

/// What a parameter is to the model. Training decides by it which parameters decay and how fast each one
/// moves (train/parameter_groups.h).
enum class Role {
  matrix,     ///< the weight of a linear map
  embedding,  ///< vectors of tokens, positions or steps
  bias,       ///< added to the output of a linear map, other than to logits
  norm,       ///< weight or bias of a norm
  logits,     ///< used as logits as it is: tables and their factors, biases of logits, mixture weights
};

/// One tensor of a layer, declared before it exists. Naming, counting, initialising, growing, the
/// C++ module and the Python module all follow from this declaration.
struct Parameter {
  std::string name;  ///< "query.weight", relative to whoever declares it
  Role role = Role::matrix;
  std::vector<int64_t> shape;
  Init init;
  bool trained = true;     ///< false: a buffer, saved with the model and never changed
  bool linear = false;     ///< the matrix of a linear map, used in linear_map() alone: it may be quantized
  bool synthesis = false;  ///< it makes the weights between positions: one of the parameters of S. Follows
                           ///< from its name in the layer (base/parameter_names.h)

  int64_t count() const;
};

/// Allocates and fills one declared tensor from the default generator of the CPU.
at::Tensor initialise(const Parameter& parameter, at::ScalarType dtype = at::kFloat);

/// While an object of this class exists, parameters created in this thread are allocated but not initialised:
/// for models whose weights are loaded from a file. Drawing millions of numbers takes longer than loading
/// them.
class SkipInitialization {
 public:
  SkipInitialization();
  ~SkipInitialization();
  SkipInitialization(const SkipInitialization&) = delete;
  SkipInitialization& operator=(const SkipInitialization&) = delete;

 private:
  bool before_;
};

/// The tensors of a layer, or of one member of it, found by their declared names.
class Weights {
 public:
  /// `prefix` is put before every name asked for: "V." makes `["key.weight"]` find "V.key.weight".
  Weights(const std::vector<Parameter>& declared, const LayerWeights& weights, std::string prefix = "")
      : declared_(&declared), weights_(&weights), prefix_(std::move(prefix)) {}

  at::Tensor operator[](std::string_view name) const;
  /// The tensor of that name, or an undefined one where the layer has none (an absent bias).
  at::Tensor find(std::string_view name) const;
  /// What stands for that matrix in a layer prepared for inference, or none.
  MatrixFormPtr form(std::string_view name) const;
  Weights with_prefix(std::string_view prefix) const;

 private:
  /// The number of the declared parameter of that name, or none.
  std::optional<size_t> number_of(std::string_view name) const;

  const std::vector<Parameter>* declared_;
  const LayerWeights* weights_;
  std::string prefix_;
};

}  // namespace synthesizer
