#pragma once

#include <ATen/ATen.h>

#include "attention/declared_module.h"
#include "model/linear.h"
#include "train/optimizer.h"

namespace synthesizer::fuzz {

/// A matrix, a bias and a buffer: what a training state is saved of.
struct StateModel : DeclaredModule {
  StateModel() {
    weight = declare("weight", Role::matrix, at::full({2, 3}, 0.5));
    bias = declare("bias", Role::bias, at::full({2}, 0.25));
    table = register_buffer("table", at::full({3}, 1.0));
  }
  at::Tensor weight, bias, table;
};

inline std::unique_ptr<Optimizer> state_optimizer(const StateModel& model) {
  const TrainOptions options;
  return make_optimizer(options, group_parameters(options, model));
}

/// A linear map, which can be quantized, and a buffer.
struct MapModel : torch::nn::Module {
  MapModel() : map(register_module("map", std::make_shared<Linear>(4, 2, true))) {
    table = register_buffer("table", at::full({3}, 1.0));
  }
  std::shared_ptr<Linear> map;
  at::Tensor table;
};

}  // namespace synthesizer::fuzz
