#include "inspect/convert.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "attention/baselines.h"
#include "attention/spec.h"
#include "base/error.h"
#include "base/parameter_names.h"
#include "inspect/copy_tensors.h"
#include "inspect/entry_usage.h"
#include "inspect/low_rank.h"
#include "inspect/member_table.h"
#include "model/layers_of.h"
#include "task/initial_weights.h"

namespace synthesizer {
namespace {

const std::string kFactorized = "FR";

bool is_table(const Variant& variant) {
  return variant.abbreviation == "R" || variant.abbreviation == "Fix" || variant.abbreviation == kFactorized;
}

/// The member of a layer that is converted; null where it has none.
const Variant* table_of(const AttentionOptions& options) {
  for (const Variant* member : global_members(options)) {
    if (is_table(*member)) return member;
  }
  return nullptr;
}

void check_convertible(Task& task, int64_t rank) {
  const ModelOptions& model = task.recipe().model;
  if (rank < 1 || rank > model.max_length) {
    invalid(fmt::format("--rank is {}: it must be from 1 to the tables' length, {}", rank, model.max_length));
  }
  bool something = false;
  for (const auto& [name, layer] : layers_of(task.model())) {
    const AttentionOptions& options = layer->attention()->options();
    const Variant* member = table_of(options);
    const bool factorized = member && member->abbreviation == kFactorized;
    something |= member && !(factorized && options.options.integer("rank", 8) == rank);
    const auto baseline = find_baseline(options.attention);
    if (baseline && baseline->baseline->size == "rank" && !baseline->size) {
      invalid(fmt::format("{} takes its rank from model.options.rank too: write it as {}:{} in config.toml",
                          name, baseline->baseline->name, options.options.integer("rank", rank)));
    }
  }
  if (something) return;
  invalid(fmt::format("there is nothing to convert: no layer of {} has a random table (R, Fix) to factorize",
                      fmt::join(model.attention, ", ")));
}

}  // namespace

std::string factorized_spec(const std::string& spec) {
  if (find_baseline(spec)) return spec;
  std::vector<std::string> members;
  for (const Variant* member : parse_spec(spec))
    members.push_back(is_table(*member) ? kFactorized : member->abbreviation);
  if (std::count(members.begin(), members.end(), kFactorized) > 1)
    invalid(fmt::format("{} has two random tables, and a mixture names {} once", spec, kFactorized));
  return fmt::format("{}", fmt::join(members, "+"));
}

Conversion factorize(Task& task, int64_t rank, const Dataset* split) {
  c10::NoGradGuard no_grad;
  check_convertible(task, rank);
  Recipe recipe = task.recipe();
  for (auto* specs :
       {&recipe.model.attention, &recipe.model.encoder_attention, &recipe.model.decoder_attention}) {
    for (std::string& spec : *specs) spec = factorized_spec(spec);
  }
  recipe.model.attention_options.set("rank", rank);
  recipe.train.init_from.clear();
  Conversion result{initial_task(recipe, task.tokenizers()), {}};

  copy_tensors_of_equal_name(task.model(), result.task->model());
  const auto old_layers = layers_of(task.model()), new_layers = layers_of(result.task->model());
  for (size_t l = 0; l < old_layers.size(); ++l) {
    const auto& [name, layer] = old_layers[l];
    const Variant* member = table_of(layer->attention()->options());
    if (!member) continue;
    const bool causal = layer->attention()->options().causal;
    const auto weight = entry_usage(task, split, causal ? Side::decoder : Side::encoder, causal);
    const auto table = member_table(*layer->attention(), *member);
    const AttentionImpl& to = *new_layers[l].second->attention();
    const Weights weights(to.mixer().parameters(), to.layer_weights(),
                          fmt::format("{}{}.", kLogitsPrefix, kFactorized));
    ConvertedTable converted{name, member->abbreviation, {}};
    for (int64_t h = 0; h < table.size(0); ++h) {
      const LowRank fit = low_rank(table[h], weight, rank);
      weights["left"][h].copy_(fit.left);
      weights["right"][h].copy_(fit.right);
      converted.errors.push_back(fit.error);
    }
    result.tables.push_back(std::move(converted));
  }
  result.task->model().eval();
  return result;
}

}  // namespace synthesizer
