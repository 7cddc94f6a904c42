#include "attention/declared_module.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>
#include <stdexcept>

namespace synthesizer {

at::Tensor DeclaredModule::declare(Parameter parameter) {
  declared_.push_back(std::move(parameter));
  const Parameter& last = declared_.back();
  return register_parameter(last.name, initialise(last));
}

at::Tensor DeclaredModule::declare(const std::string& name, Role role, const at::Tensor& values) {
  declared_.push_back({name, role, values.sizes().vec(), Init{}});
  return register_parameter(name, values);
}

std::vector<Parameter> declared_parameters(const torch::nn::Module& model) {
  std::map<std::string, Parameter> declared;
  auto add = [&](const std::string& prefix, const torch::nn::Module& module) {
    const auto* declaring = dynamic_cast<const DeclaredModule*>(&module);
    if (!declaring) return;
    for (Parameter parameter : declaring->declared()) {
      parameter.name = prefix + parameter.name;
      declared.emplace(parameter.name, parameter);
    }
  };
  add("", model);
  for (const auto& item : model.named_modules("", /*include_self=*/false))
    add(item.key() + ".", *item.value());
  std::vector<Parameter> all;
  for (const auto& item : model.named_parameters()) {
    const auto found = declared.find(item.key());
    if (found == declared.end()) {
      throw std::logic_error(
          fmt::format("parameter '{}' has no role: declare it (attention/declared_module.h)", item.key()));
    }
    all.push_back(found->second);
  }
  return all;
}

}  // namespace synthesizer
