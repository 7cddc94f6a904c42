#include "task/training.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>
#include <torch/version.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/version.h"
#include "model/layers_of.h"
#include "runtime/threads.h"
#include "task/registry.h"
#include "task/run.h"
#include "task/start.h"
#include "task/summary.h"
#include "train/parameter_groups.h"
#include "train/provenance.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

void check_folder(const TrainingOptions& options, const Recipe& recipe) {
  const RunFolder folder{options.folder};
  if (!options.resume) {
    if (!fs::exists(options.folder)) return;
    if (fs::is_directory(options.folder) && fs::is_empty(options.folder)) return;
    invalid(fmt::format("{} exists already: choose another --run, go on with --resume, or delete it",
                        options.folder));
  }
  if (!fs::exists(folder.config()))
    invalid(fmt::format("{} is no run: there is nothing to resume", options.folder));
  if (!fs::exists(folder.state()))
    invalid(fmt::format("{} has saved no state yet: delete it and train anew", options.folder));
  const auto differ = contradictions(recipe, load_recipe(folder.config()));
  if (!differ.empty()) {
    invalid(
        fmt::format("{} was trained with another recipe; it differs in {}: train a new run, or give the same",
                    options.folder, fmt::join(differ, ", ")));
  }
}

void check_watched(const Task& task) {
  const std::string& watch = task.recipe().train.watch;
  const auto known = task.watchable();
  if (std::find(known.begin(), known.end(), watch) != known.end()) return;
  invalid(fmt::format("train.watch is \"{}\": {} has {}{}", watch, task.recipe().task, fmt::join(known, ", "),
                      did_you_mean(watch, known)));
}

void make_folder(const TrainingOptions& options, Task& task, const std::vector<const Dataset*>& data) {
  std::map<std::string, std::string> hashes;
  for (const Dataset* one : data) {
    for (const auto& store : one->stores) {
      for (const auto& [path, hash] : store->file_hashes()) hashes[path] = hash;
    }
  }
  const Provenance record(options.command, version(), commit(), TORCH_VERSION, at::get_num_threads(), hashes);
  const RunFolder folder{options.folder};
  fs::create_directories(options.folder);
  save_tokenizers(options.folder, task.tokenizers());
  auto json = record.json();
  json["parameter_groups"] = to_json(group_parameters(task.recipe().train, task.model()).groups);
  write_file(folder.record(), json.dump(2) + "\n");
  write_file(folder.config(), to_toml(task.recipe()));  // last: a folder with one is a run
}

/// How every layer weighs its members, as a line of metrics.jsonl has it.
MetricRows mixture_rows(torch::nn::Module& model) {
  MetricRows rows;
  for (MixtureShares& one : mixture_shares_of(model)) rows.emplace_back(one.layer, std::move(one.shares));
  return rows;
}

}  // namespace

Outcome train_run(const Recipe& given, const TrainingOptions& options) {
  if (given.data.train.empty()) invalid("data.train is empty: name the files to learn from");
  Recipe recipe = given;
  if (const auto complete = find_task(recipe.task).complete) complete(recipe);
  check_folder(options, recipe);
  use_threads(recipe.train.threads > 0 ? recipe.train.threads : usable_cores());
  auto tokenizers = options.resume ? load_tokenizers(options.folder) : make_tokenizers(recipe);
  if (options.resume) check_tokenizer(RunFolder{options.folder}.state(), tokenizers);
  const auto task = drawn_task(recipe, std::move(tokenizers));
  check_watched(*task);
  const auto training = task->open(recipe.data.train, true);
  const auto dev = recipe.data.dev.empty() ? nullptr : task->open(recipe.data.dev, false);
  if (!options.resume) take_first_weights(*task);

  TrainingJob job;
  job.title =
      options.title.empty() ? fmt::format("{}", fmt::join(recipe.model.attention, ",")) : options.title;
  job.model = &task->model();
  job.on_start = [&] {
    options.say(summary(*task, *training, dev.get()));
    if (options.resume) return;
    std::vector<const Dataset*> splits = {training.get()};
    if (dev) splits.push_back(dev.get());
    make_folder(options, *task, splits);
  };
  job.batches = training->batches.get();
  job.loss = [&](const Batch& batch) { return task->loss(batch); };
  if (dev) {
    DecodeOptions greedy = recipe.decode;
    greedy.beam = 1;
    job.validate = [&, greedy] {
      return prepared_copy(*task)->evaluate(*dev, recipe.train.watch != "loss", greedy).scores;
    };
  }
  if (!mixture_shares_of(task->model()).empty()) job.mixtures = [&] { return mixture_rows(task->model()); };
  job.watched = recipe.train.watch;
  job.higher_is_better = recipe.train.watch != "loss";
  job.unit = task->unit();
  job.seed = static_cast<uint64_t>(recipe.seed);
  job.width = recipe.model.width;
  job.metadata = {{"tokenizer", task->tokenizers().hash()}};
  return train(job, recipe.train, RunFolder{options.folder}, options.resume);
}

}  // namespace synthesizer
