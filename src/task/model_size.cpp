#include "task/model_size.h"

#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "attention/declared_module.h"
#include "base/error.h"
#include "task/registry.h"
#include "text/label_tokenizer.h"

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
  if (has(".halting_")) return "halting";
  return has("embedding") ? "embeddings" : "output";
}

/// A tokenizer of the size that the recipe asks for. No text goes through it.
std::shared_ptr<const Tokenizer> sized_tokenizer(const DataOptions& data) {
  const auto kind = find_choice(choices(TokenizerKind{}), data.tokenizer);
  if (kind && static_cast<TokenizerKind>(*kind) == TokenizerKind::bytes)
    return train_tokenizer({.kind = TokenizerKind::bytes}, {});
  if (!kind || data.vocabulary == 0) {
    invalid(fmt::format(
        "data.tokenizer is \"{}\" and data.vocabulary {}: the size of the vocabulary depends on the text; "
        "synth train RECIPE --dry-run counts with it",
        data.tokenizer, data.vocabulary));
  }
  return std::make_shared<LabelTokenizer>(std::vector<std::string>(static_cast<size_t>(data.vocabulary)));
}

}  // namespace

ModelSize model_size(const torch::nn::Module& model) {
  ModelSize size;
  for (const Parameter& parameter : declared_parameters(model)) {
    const std::string part = part_of(parameter);
    auto found = std::find_if(size.parts.begin(), size.parts.end(),
                              [&](const auto& one) { return one.first == part; });
    if (found == size.parts.end()) found = size.parts.insert(size.parts.end(), {part, 0});
    found->second += parameter.count();
    size.total += parameter.count();
    if (parameter.synthesis) size.synthesis += parameter.count();
  }
  return size;
}

ModelSize model_size(const Recipe& recipe) {
  const TaskInfo& task = find_task(recipe.task);
  if (task.complete && recipe.data.labels.empty())
    invalid("data.labels is empty: the classes come from the training text; list them, or use --dry-run");
  Tokenizers tokenizers;
  tokenizers.source = sized_tokenizer(recipe.data);
  const bool joint = recipe.data.joint || task.fields < 2;
  tokenizers.target = joint ? tokenizers.source : sized_tokenizer(recipe.data);
  const SkipInitialization skip_initialization;
  return model_size(task.make(recipe, std::move(tokenizers))->model());
}

}  // namespace synthesizer
