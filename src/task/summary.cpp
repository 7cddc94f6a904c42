#include "task/summary.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "base/number_text.h"
#include "task/model_size.h"
#include "train/parameter_groups.h"

namespace synthesizer {
namespace {

/// Floats that a training step holds for each token, roughly: what every layer keeps for its backward pass.
double activations(const torch::nn::Module& model, const ModelOptions& m) {
  const auto width = static_cast<double>(m.width), inner = static_cast<double>(m.feed_forward);
  auto depth = [&](const char* name, Side side) -> size_t {
    if (!model.named_children().contains(name)) return 0;
    return m.recurrent_depth > 0 ? static_cast<size_t>(m.recurrent_depth)
                                 : attention_of_layers(m, side).size();
  };
  const auto layers = static_cast<double>(depth("encoder", Side::encoder) + depth("decoder", Side::decoder));
  const double dropped = m.dropout > 0 ? 3 * width : 0;
  return layers * (14 * width + 2 * inner + dropped) + 4 * width;
}

/// The groups that the model has: names, numbers, and how the optimizer treats them.
std::string group_text(const std::vector<ParameterGroup>& groups) {
  std::vector<std::string> parts;
  for (const ParameterGroup& group : groups) {
    if (group.tensors == 0) continue;
    parts.push_back(fmt::format("{} {} in {} tensors (learning rate × {}, decay {})", group.name,
                                with_thousands(group.parameters), group.tensors, group.learning_rate_factor,
                                group.weight_decay));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string summary(Task& task, const Dataset& training, const Dataset* dev, int64_t processes) {
  const Recipe& recipe = task.recipe();
  const ModelSize size = model_size(task.model());
  std::string out =
      fmt::format("{} with attention {}\n\n", recipe.task, fmt::join(recipe.model.attention, ", "));
  for (const auto& [part, count] : size.parts)
    out += fmt::format("  {:<30} {:>13}\n", part, with_thousands(count));
  out += fmt::format("  {:<30} {:>13}\n\n", "parameters", with_thousands(size.total));

  const std::string unit = task.unit() == "tok" ? "tokens" : "examples";
  auto text = [&](const char* split, const Dataset& data) {
    out += fmt::format("  {:<6} {} {} in {} lines, {} batches{}\n", split, with_thousands(data.tokens), unit,
                       with_thousands(data.lines()), with_thousands(data.batches->per_epoch()),
                       data.reused() ? " (tokenized before)" : "");
    for (const std::string& remark : data.remarks) out += fmt::format("         {}\n", remark);
  };
  out += fmt::format("  {:<6} {} tokens ({})\n", "vocab", with_thousands(task.tokenizers().target->size()),
                     task.tokenizers().target->kind());
  text("train", training);
  if (dev) text("dev", *dev);
  out +=
      fmt::format("  {:<6} {}\n", "groups", group_text(group_parameters(recipe.train, task.model()).groups));
  const auto steps_an_epoch = static_cast<double>(training.batches->per_epoch()) /
                              static_cast<double>(recipe.train.accumulate * processes);
  const double tokens = static_cast<double>(recipe.train.batch_tokens);
  const double all_moments = recipe.train.optimizer == OptimizerKind::adafactor ? 0.1 : 2;
  const double moments =
      recipe.train.shard_optimizer ? all_moments / static_cast<double>(processes) : all_moments;
  const double memory = 4 * (static_cast<double>(size.total) * (2 + moments) +
                             tokens * activations(task.model(), recipe.model));
  out += fmt::format("  {:<6} {} of about {:.0f} an epoch ({:.1f} epochs)\n", "steps",
                     with_thousands(recipe.train.steps), steps_an_epoch,
                     static_cast<double>(recipe.train.steps) / steps_an_epoch);
  out += fmt::format("  {:<6} about {}{}, LibTorch itself aside\n", "memory", byte_text(memory),
                     processes > 1 ? fmt::format(" in each of {} processes", processes) : "");
  return out;
}

}  // namespace synthesizer
