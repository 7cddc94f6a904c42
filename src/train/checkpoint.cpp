#include "train/checkpoint.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/prepare.h"
#include "run/safetensors_header.h"
#include "train/safetensors.h"

namespace synthesizer {
namespace {

constexpr const char* kOptimizerPrefix = "optimizer.";
constexpr const char* kGroupsKey = "parameter_groups";
constexpr const char* kStepBatchesKey = "step_batches";

/// Numbers as text that gives the same bits back.
std::string exact(double value) {
  return fmt::format("{:a}", value);
}

template <typename T>
T number(const TensorFile& file, const std::string& path, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end())
    invalid(fmt::format("{} is damaged: it does not say its {}", path, key));
  const std::string& text = found->second;
  if constexpr (std::is_same_v<T, double>) {
    return std::strtod(text.c_str(), nullptr);
  } else {
    T value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || value < 0)
      invalid(fmt::format("{} is damaged: its {} is '{}'", path, key, text));
    return value;
  }
}

/// The sums as metadata, with exact numbers.
Metadata interval_metadata(const IntervalSums& sums) {
  Metadata all = {{"interval_loss", exact(sums.loss)},
                  {"interval_nll", exact(sums.nll)},
                  {"interval_tokens", std::to_string(sums.tokens)},
                  {"interval_correct", std::to_string(sums.correct)},
                  {"interval_gradient_norm", exact(sums.gradient_norm)},
                  {"interval_waited", exact(sums.waited)},
                  {"interval_seconds", exact(sums.seconds)}};
  if (sums.ponder > 0) {  // adaptive halting
    all["interval_ponder"] = exact(sums.ponder);
    all["interval_depth"] = exact(sums.depth);
  }
  return all;
}

/// Nothing where the file was saved by a version that did not save them.
IntervalSums interval_of(const TensorFile& file, const std::string& path) {
  if (!file.metadata().contains("interval_tokens")) return {};
  const bool pondered = file.metadata().contains("interval_ponder");
  return {.loss = number<double>(file, path, "interval_loss"),
          .nll = number<double>(file, path, "interval_nll"),
          .ponder = pondered ? number<double>(file, path, "interval_ponder") : 0,
          .depth = pondered ? number<double>(file, path, "interval_depth") : 0,
          .tokens = number<int64_t>(file, path, "interval_tokens"),
          .correct = number<int64_t>(file, path, "interval_correct"),
          .gradient_norm = number<double>(file, path, "interval_gradient_norm"),
          .waited = number<double>(file, path, "interval_waited"),
          .seconds = number<double>(file, path, "interval_seconds")};
}

/// What a weight's scale is called in a file where the weight itself is int8.
std::string scale_name(const std::string& weight) {
  return weight + Int8Matrix::kScaleSuffix;
}

/// The tensors of a model as a file has them: a quantized weight as the tensors it is made of.
NamedTensors as_saved(const torch::nn::Module& model) {
  std::map<std::string, const QuantizedMatrix*> quantized;
  for (const MatrixSlot& slot : matrix_slots(model)) quantized[slot.name] = as_quantized(*slot.form);
  NamedTensors all;
  for (const NamedTensor& one : saved_tensors(model)) {
    const auto found = quantized.find(one.name);
    if (found != quantized.end() && found->second) {
      for (const auto& [suffix, tensor] : found->second->parts()) all.push_back({one.name + suffix, tensor});
    } else {
      all.push_back(one);
    }
  }
  return all;
}

/// Throws where the tensors of a file are not those at hand.
void check_same_model(const TensorFile& file, const std::string& path, const std::string& prefix,
                      const NamedTensors& into) {
  size_t wanted = into.size();
  for (const auto& [name, tensor] : into) {
    if (!file.has(prefix + name))
      invalid(fmt::format("{} has no tensor '{}': it belongs to another model", path, prefix + name));
    const auto found = file.tensor(prefix + name);
    if (found.sizes() != tensor.sizes()) {
      invalid(fmt::format("{}: '{}' is {} there and {} in this model: it belongs to another model", path,
                          name, fmt::join(found.sizes(), "×"), fmt::join(tensor.sizes(), "×")));
    }
    if (found.scalar_type() == at::kChar && file.has(scale_name(prefix + name))) ++wanted;
  }
  size_t there = 0;
  for (const std::string& name : file.names()) there += name.starts_with(prefix) ? 1 : 0;
  if (there != wanted) {
    invalid(fmt::format("{} has {} tensors where this model has {}: it belongs to another model", path, there,
                        wanted));
  }
}

/// Throws where the run was trained with other parameter groups: resumed, it would not be the same run.
void check_same_groups(const TensorFile& file, const std::string& path, const Optimizer& optimizer) {
  const auto& groups = optimizer.groups();
  const auto found = file.metadata().find(kGroupsKey);
  if (found != file.metadata().end()) {
    const std::string now = to_json(groups).dump();
    if (found->second == now) return;
    invalid(fmt::format("{} was trained with the parameter groups {}, and they are {} now: train a new run",
                        path, found->second, now));
  }
  // Saved before there were groups: all parameters had the same learning rate and the same weight decay.
  const bool decays = std::any_of(groups.begin(), groups.end(),
                                  [](const ParameterGroup& group) { return group.weight_decay > 0; });
  if (!decays) return;
  invalid(fmt::format(
      "{} was saved by an earlier version, whose train.weight_decay applied to all parameters: go on "
      "with that version, or train a new run with train.init_from",
      path));
}

/// Copies tensors of a file, which were found to be the same, into those at hand.
void take(const TensorFile& file, const std::string& prefix, const NamedTensors& into) {
  c10::NoGradGuard no_grad;
  for (const auto& [name, tensor] : into) at::Tensor(tensor).copy_(file.tensor(prefix + name));
}

/// The matrix that a file has as whole numbers and scales.
std::shared_ptr<const Int8Matrix> int8_of(const TensorFile& file, const std::string& path,
                                          const std::string& name, const at::Tensor& quantized) {
  const auto scale = file.tensor(scale_name(name));
  const bool fits =
      scale.scalar_type() == at::kFloat && scale.dim() == 1 && scale.size(0) == quantized.size(0);
  if (!fits || !at::logical_and(scale > 0, scale.isfinite()).all().item<bool>()) {
    invalid(fmt::format("{} is damaged: '{}' must be {} positive numbers of float32", path, scale_name(name),
                        quantized.size(0)));
  }
  return std::make_shared<Int8Matrix>(quantized, scale);
}

/// The numbers of fewer bits that a file has in place of a matrix; none where it has float32, or numbers that
/// are to become float32.
std::shared_ptr<const QuantizedMatrix> quantized_of(const TensorFile& file, const std::string& path,
                                                    const std::string& name, const at::Tensor& found) {
  if (found.scalar_type() == at::kChar) return int8_of(file, path, name, found);
  const auto kind = file.metadata().find(kQuantizedKey);
  const bool bfloat16 = found.scalar_type() == at::kBFloat16 && kind != file.metadata().end() &&
                        kind->second == choice_name(Quantization::bfloat16);
  return bfloat16 ? std::make_shared<Bfloat16Matrix>(found) : nullptr;
}

/// The tensors at hand become those of the file's memory map: nothing is read until it is used.
void adopt(const TensorFile& file, const std::string& path, const std::string& prefix,
           torch::nn::Module& model) {
  const NamedTensors into = saved_tensors(model);
  check_same_model(file, path, prefix, into);
  std::map<std::string, MatrixSlot> matrices;
  for (MatrixSlot& slot : matrix_slots(model)) matrices[slot.name] = slot;
  for (const auto& [name, tensor] : into) {
    const auto found = file.tensor(prefix + name);
    if (matrices.contains(name)) {
      if (auto quantized = quantized_of(file, path, prefix + name, found)) {
        replace_by(std::move(quantized), matrices[name]);
        continue;
      }
    } else if (found.scalar_type() == at::kChar) {
      invalid(fmt::format("{}: '{}' is int8 there: only matrices of linear maps and embeddings can be", path,
                          name));
    }
    tensor.set_data(found.to(tensor.options()));
  }
}

}  // namespace

void save_weights(const std::string& path, const torch::nn::Module& model, int64_t step, Metadata metadata) {
  metadata["format"] = "pt";
  metadata["step"] = std::to_string(step);
  if (const auto kind = quantization(model)) metadata[kQuantizedKey] = choice_name(*kind);
  save_tensors(path, as_saved(model), metadata);
}

void load_weights(const std::string& path, torch::nn::Module& model, const std::string& prefix) {
  const TensorFile file(path);
  file.check_bytes();
  adopt(file, path, prefix, model);
}

void save_state(const std::string& path, const torch::nn::Module& model, const Optimizer& optimizer,
                const TrainerState& s, Metadata metadata) {
  NamedTensors all = prefixed(kModelPrefix, saved_tensors(model));
  const size_t weights = all.size();
  for (NamedTensor& one : prefixed(kOptimizerPrefix, optimizer.state())) all.push_back(std::move(one));
  metadata.merge(Metadata{{"step", std::to_string(s.step)},
                          {"tokens", std::to_string(s.tokens)},
                          {"seconds", exact(s.seconds)},
                          {"best", exact(s.best)},
                          {"best_step", std::to_string(s.best_step)},
                          {"worse", std::to_string(s.worse)},
                          {kStepBatchesKey, std::to_string(s.step_batches)},
                          {kGroupsKey, to_json(optimizer.groups()).dump()}});
  metadata.merge(interval_metadata(s.interval));
  save_tensors(path, all, metadata,
               [&](size_t i) { return i < weights ? all[i].tensor : optimizer.fetch(i - weights); });
}

TrainerState load_state(const std::string& path, torch::nn::Module& model, Optimizer& optimizer) {
  const TensorFile file(path);
  file.check_bytes();
  const NamedTensors weights = saved_tensors(model), &moments = optimizer.state();
  check_same_model(file, path, kModelPrefix, weights);
  check_same_model(file, path, kOptimizerPrefix, moments);
  check_same_groups(file, path, optimizer);
  TrainerState s{number<int64_t>(file, path, "step"),
                 number<int64_t>(file, path, "tokens"),
                 number<double>(file, path, "seconds"),
                 number<double>(file, path, "best"),
                 number<int64_t>(file, path, "best_step"),
                 number<int64_t>(file, path, "worse"),
                 interval_of(file, path)};
  take(file, kModelPrefix, weights);  // nothing is refused from here on
  for (size_t i = 0; i < moments.size(); ++i)
    optimizer.put(i, file.tensor(kOptimizerPrefix + moments[i].name));
  // A first score that was NaN was once taken for the best.
  if (!std::isfinite(s.best)) s.best = 0, s.best_step = 0, s.worse = 0;
  return s;
}

void send_state(const Optimizer& optimizer) {
  if (!optimizer.divided()) return;
  for (int pass = 0; pass < 2; ++pass) {  // save_tensors reads all values twice
    for (size_t i = 0; i < optimizer.state().size(); ++i) optimizer.fetch(i);
  }
}

void receive_state(Optimizer& optimizer) {
  if (!optimizer.divided()) return;
  for (size_t i = 0; i < optimizer.state().size(); ++i) optimizer.put(i, {});
}

int64_t saved_step_batches(const std::string& path) {
  const TensorFile file(path);
  return file.metadata().contains(kStepBatchesKey) ? number<int64_t>(file, path, kStepBatchesKey) : 0;
}

NamedTensors average_weights(const std::vector<std::string>& paths) {
  NamedTensors mean;
  for (const std::string& path : paths) {
    const TensorFile file(path);
    file.check_bytes();
    if (mean.empty()) {
      for (const std::string& name : file.names()) mean.push_back({name, file.tensor(name).to(at::kDouble)});
      continue;
    }
    if (file.names().size() != mean.size())
      invalid(fmt::format("{} has other tensors than {}: they cannot be averaged", path, paths.front()));
    for (auto& [name, sum] : mean) {
      const auto next = file.tensor(name);
      if (next.sizes() != sum.sizes())
        invalid(fmt::format("{}: '{}' has another shape than in {}", path, name, paths.front()));
      sum += next.to(at::kDouble);
    }
  }
  const TensorFile first(paths.front());
  for (auto& [name, sum] : mean) {
    sum = (sum / static_cast<double>(paths.size())).to(first.tensor(name).scalar_type());
  }
  return mean;
}

}  // namespace synthesizer
