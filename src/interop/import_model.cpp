#include "interop/import_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "attention/parameter.h"
#include "base/error.h"
#include "interop/family.h"
#include "task/registry.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

struct Family {
  const char* type;  ///< model_type of config.json
  ModelPlan (*plan)(ModelFolder&);
};
constexpr Family kFamilies[] = {
    {"marian", plan_marian},
    {"t5", plan_t5},
    {"gpt2", plan_gpt2},
    {"bert", plan_bert},
};

const Family& family_of(ForeignConfig& config) {
  const std::string type = config.text("model_type", "");
  const auto* found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& family) { return family.type == type; });
  if (found != std::end(kFamilies)) return *found;
  config.refuse("model_type",
                fmt::format("is \"{}\": {} are supported", type, fmt::join(importable_families(), ", ")));
}

ModelFolder open_folder(const std::string& path) {
  if (!fs::is_directory(path)) invalid(fmt::format("{} is not a folder", path));
  const std::string config = path + "/config.json";
  if (!fs::exists(config)) {
    invalid(fmt::format(
        "{} is not a model of Hugging Face or Marian: it has no config.json and no decoder.yml", path));
  }
  return {path, ForeignConfig(config), {}, {}};
}

std::unique_ptr<Task> filled_task(const ModelPlan& plan, ForeignWeights& weights) {
  check(plan.recipe);
  auto task = [&] {
    const SkipInitialization skip_initialization;
    return find_task(plan.recipe.task).make(plan.recipe, plan.tokenizers);
  }();
  fill_model(task->model(), plan.rules, weights);
  task->model().eval();
  return task;
}

}  // namespace

std::vector<std::string> importable_families() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) names.emplace_back(family.type);
  return names;
}

std::unique_ptr<Task> import_model(const ImportOptions& options) try {
  const std::string& path = options.folder;
  if (fs::exists(path + "/decoder.yml") && !fs::exists(path + "/config.json")) {
    auto weights = ForeignWeights::load({marian_model_file(path)});
    const ModelPlan plan = plan_marian_npz(path, weights, options.ignored);
    return filled_task(plan, weights);
  }
  ModelFolder folder = open_folder(path);
  const Family& family = family_of(folder.config);
  folder.ignored = options.ignored;
  if (const auto& pruned = folder.config.value("pruned_heads"); !pruned.empty())
    folder.config.refuse("pruned_heads", "is not empty: models without some heads are not supported");
  folder.weights = ForeignWeights::load(weight_files(path));
  const ModelPlan plan = family.plan(folder);
  folder.config.check_all_read(options.ignored);
  return filled_task(plan, folder.weights);
} catch (const nlohmann::json::exception& unexpected) {
  invalid(
      fmt::format("{}: one of its JSON files is not as it should be: {}", options.folder, unexpected.what()));
}

}  // namespace synthesizer
