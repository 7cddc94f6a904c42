#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "attention/parameter.h"

namespace synthesizer {

/// A LibTorch module that declares its parameters, so that whoever trains it knows their roles.
class DeclaredModule : public torch::nn::Module {
 public:
  using torch::nn::Module::Module;

  /// Its own parameters, with names relative to it; not those of declared modules below it.
  virtual const std::vector<Parameter>& declared() const { return declared_; }

 protected:
  /// Draws the first values and registers the parameter.
  at::Tensor declare(Parameter parameter);
  /// Registers a parameter that starts from the given values.
  at::Tensor declare(const std::string& name, Role role, const at::Tensor& values);

 private:
  std::vector<Parameter> declared_;
};

/// The declarations of all trained parameters of a model, with their full names, in the order of
/// named_parameters(). Throws std::logic_error where a parameter was registered and not declared.
std::vector<Parameter> declared_parameters(const torch::nn::Module& model);

}  // namespace synthesizer
