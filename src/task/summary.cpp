#include "task/summary.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "attention/declared_module.h"
#include "base/number_text.h"
#include "train/parameter_groups.h"

namespace synthesizer {
namespace {

/// The part of the model that a parameter belongs to.
std::string part_of(const Parameter& parameter) {
  const std::string& name = parameter.name;
  const std::string side = name.starts_with("encoder.")   ? "encoder "
                           : name.starts_with("decoder.") ? "decoder "
                                                          : "";
  auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  if (parameter.role == Role::norm) return "norms";
  if (parameter.synthesis) return side + "synthesis";
  if (has(".attention.")) return side + "attention projections";
  if (has(".cross.")) return "cross-attention";
  if (has(".feed_forward.")) return side + "feed-forward";
  if (has("positions.")) return "positions";
  if (has(".times")) return "positions";
  return has("embedding") ? "embeddings" : "output";
}

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
  std::vector<std::pair<std::string, int64_t>> parts;
  int64_t total = 0;
  for (const Parameter& parameter : declared_parameters(task.model())) {
    const std::string part = part_of(parameter);
    auto found = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == part; });
    if (found == parts.end()) found = parts.insert(parts.end(), {part, 0});
    found->second += parameter.count();
    total += parameter.count();
  }
  std::string out =
      fmt::format("{} with attention {}\n\n", recipe.task, fmt::join(recipe.model.attention, ", "));
  for (const auto& [part, count] : parts)
    out += fmt::format("  {:<30} {:>13}\n", part, with_thousands(count));
  out += fmt::format("  {:<30} {:>13}\n\n", "parameters", with_thousands(total));

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
  const double moments = recipe.train.optimizer == OptimizerKind::adafactor ? 0.1 : 2;
  const double memory =
      4 * (static_cast<double>(total) * (2 + moments) + tokens * activations(task.model(), recipe.model));
  out += fmt::format("  {:<6} {} of about {:.0f} an epoch ({:.1f} epochs)\n", "steps",
                     with_thousands(recipe.train.steps), steps_an_epoch,
                     static_cast<double>(recipe.train.steps) / steps_an_epoch);
  out += fmt::format("  {:<6} about {}{}, LibTorch itself aside\n", "memory", byte_text(memory),
                     processes > 1 ? fmt::format(" in each of {} processes", processes) : "");
  return out;
}

}  // namespace synthesizer
