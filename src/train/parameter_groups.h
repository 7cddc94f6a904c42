#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "attention/parameter.h"
#include "train/named_tensors.h"
#include "train/options.h"

namespace synthesizer {

/// Parameters that the optimizer treats alike. A parameter's role decides which group it belongs to.
struct ParameterGroup {
  std::string name;
  double learning_rate_factor = 1;  ///< the learning rate of its parameters is the schedule's times this
  double weight_decay = 0;
  int64_t tensors = 0, parameters = 0;  ///< how many tensors, and how many numbers they hold
};

/// What is trained, in groups:
///
///     group     roles              weight decay          factor of the learning rate
///     matrices  matrix, embedding  options.weight_decay  1
///     vectors   bias, norm         0                     1
///     logits    logits             0                     options.logit_learning_rate
struct ParameterGroups {
  std::vector<ParameterGroup>
      groups;                    ///< always these three, in this order; a model may have none of a group
  NamedTensors tensors;          ///< in the order of the model
  std::vector<size_t> group_of;  ///< for each tensor the number of its group

  const ParameterGroup& of(size_t tensor) const { return groups[group_of[tensor]]; }
};

/// `roles`: one for each tensor.
ParameterGroups group_parameters(const TrainOptions& options, NamedTensors tensors,
                                 const std::vector<Role>& roles);
/// All trained parameters of a model. Throws std::logic_error where one was not declared (declared_module.h).
ParameterGroups group_parameters(const TrainOptions& options, const torch::nn::Module& model);

/// One object per group, as run.json and the state of a run record them.
nlohmann::ordered_json to_json(const std::vector<ParameterGroup>& groups);

}  // namespace synthesizer
