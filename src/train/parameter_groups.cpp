#include "train/parameter_groups.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <nlohmann/json.hpp>

#include "attention/declared_module.h"

namespace synthesizer {
namespace {

enum GroupNumber : size_t { kMatrices, kVectors, kLogits };

size_t group_number(Role role) {
  switch (role) {
    case Role::matrix:
    case Role::embedding: return kMatrices;
    case Role::bias:
    case Role::norm: return kVectors;
    case Role::logits: break;
  }
  return kLogits;
}

}  // namespace

ParameterGroups group_parameters(const TrainOptions& options, NamedTensors tensors,
                                 const std::vector<Role>& roles) {
  ParameterGroups all;
  all.groups.resize(kLogits + 1);
  all.groups[kMatrices].name = "matrices";
  all.groups[kMatrices].weight_decay = options.weight_decay;
  all.groups[kVectors].name = "vectors";
  all.groups[kLogits].name = "logits";
  all.groups[kLogits].learning_rate_factor = options.logit_learning_rate;
  all.tensors = std::move(tensors);
  for (size_t i = 0; i < all.tensors.size(); ++i) {
    all.group_of.push_back(group_number(roles.at(i)));
    ParameterGroup& group = all.groups[all.group_of.back()];
    ++group.tensors;
    group.parameters += all.tensors[i].tensor.numel();
  }
  return all;
}

ParameterGroups group_parameters(const TrainOptions& options, const torch::nn::Module& model) {
  std::vector<Role> roles;
  for (const Parameter& parameter : declared_parameters(model)) roles.push_back(parameter.role);
  return group_parameters(options, trained_tensors(model), roles);
}

nlohmann::ordered_json to_json(const std::vector<ParameterGroup>& groups) {
  auto json = nlohmann::ordered_json::array();
  for (const ParameterGroup& group : groups) {
    json.push_back({{"name", group.name},
                    {"tensors", group.tensors},
                    {"parameters", group.parameters},
                    {"learning_rate_factor", group.learning_rate_factor},
                    {"weight_decay", group.weight_decay}});
  }
  return json;
}

}  // namespace synthesizer
