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
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/nearest.h"
#include "base/version.h"
#include "model/halting.h"
#include "model/layers_of.h"
#include "run/provenance.h"
#include "run/run_lock.h"
#include "run/run_record.h"
#include "runtime/threads.h"
#include "task/data_changes.h"
#include "task/initial_weights.h"
#include "task/process_agreement.h"
#include "task/registry.h"
#include "task/run.h"
#include "task/summary.h"
#include "task/unknown_tokens.h"
#include "train/parameter_groups.h"
#include "train/run_processes.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

/// The task's loss and, with adaptive halting, what pondering costs: for each token its weight times the mean
/// over positions, of both sides where there are two.
LossSum loss_with_pondering(Task& task, const Batch& batch) {
  const PonderScope pondered;
  LossSum sum = task.loss(batch);
  const auto tokens = static_cast<double>(sum.tokens),
             stacks = static_cast<double>(pondered.entries().size());
  for (const PonderScope::Entry& entry : pondered.entries()) {
    sum.loss = sum.loss + entry.cost.to(sum.loss.scalar_type()) * (task.recipe().train.ponder_cost * tokens);
    sum.ponder += entry.cost.item<double>() * tokens / stacks;
    sum.depth += entry.steps * tokens / stacks;
  }
  return sum;
}

/// Throws where a resumed run would not take the batches that it would have taken.
void check_step_batches(const TrainingOptions& options, const Recipe& recipe, const Recipe& before) {
  const int64_t saved = saved_step_batches(RunFolder{options.folder}.state());
  const int64_t was = saved > 0 ? saved : before.train.accumulate;
  const int64_t processes = size_of(options.group), now = recipe.train.accumulate * processes;
  if (was == now) return;
  const std::string advice =
      was % processes == 0
          ? fmt::format("--set train.accumulate={} keeps the step as it was", was / processes)
          : fmt::format("use a number of processes that divides {}", was);
  invalid(fmt::format("{} takes {} batches per step, and {} {} with train.accumulate {} would take {}: {}",
                      options.folder, was, processes, processes == 1 ? "process" : "processes",
                      recipe.train.accumulate, now, advice));
}

[[noreturn]] void folder_exists(const std::string& folder) {
  invalid(fmt::format("{} exists already: choose another --run, go on with --resume, or delete it", folder));
}

/// Throws where a new run cannot be made there, before its data are read.
void check_free(const std::string& folder) {
  if (!RunLock::free_for_new_run(folder)) folder_exists(folder);
  check_no_file_in_the_way(folder);
}

/// Throws where the run cannot be resumed. From then on nobody else writes into its folder.
void take_folder(const TrainingOptions& options, const Recipe& recipe, std::optional<RunLock>& lock) {
  const RunFolder folder{options.folder};
  if (!fs::exists(folder.config()))
    invalid(fmt::format("{} is not a run folder: there is nothing to resume", options.folder));
  lock.emplace(options.folder, options.command);
  if (!fs::exists(folder.state()))
    invalid(fmt::format("{} has saved no state yet: delete it and train anew", options.folder));
  const Recipe before = load_recipe(folder.config());
  Recipe compared = recipe;
  compared.train.accumulate = before.train.accumulate;  // counts together with the number of processes
  const auto differ = differing_keys(compared, before);
  if (!differ.empty()) {
    invalid(
        fmt::format("{} was trained with another recipe; it differs in {}: train a new run, or give the same",
                    options.folder, fmt::join(differ, ", ")));
  }
  check_step_batches(options, recipe, before);
}

/// Whether the run goes on from a checkpoint. After a restart by the launcher it does where this very command
/// has saved one; what it has made without one is deleted, to be made anew. Throws where the run is that of
/// another command.
bool resumes(const TrainingOptions& options) {
  const bool restarted = options.group && options.group->place().restarts > 0;
  const RunFolder folder{options.folder};
  if (options.resume || !restarted || !fs::exists(folder.config())) return options.resume;
  if (read_provenance(folder.record()).command != recorded_command(options.command))
    folder_exists(options.folder);
  const RunLock nobody_else(options.folder, options.command);
  if (fs::exists(folder.state())) return true;
  fs::remove_all(options.folder);
  return false;
}

void check_watched(const Task& task) {
  const std::string& watch = task.recipe().train.watch;
  const auto known = task.watchable();
  if (std::find(known.begin(), known.end(), watch) != known.end()) return;
  invalid(fmt::format("train.watch is \"{}\": {} has {}{}", watch, task.recipe().task, fmt::join(known, ", "),
                      did_you_mean(watch, known)));
}

void make_folder(const TrainingOptions& options, const RunLock& lock, Task& task, const Splits& data) {
  const Provenance record(options.command, version(), commit(), TORCH_VERSION, at::get_num_threads(),
                          data_hashes(data));
  const RunFolder folder{options.folder};
  if (!lock.folder_is_empty()) folder_exists(options.folder);  // another was faster
  try {
    save_tokenizers(options.folder, task.tokenizers());
    auto json = record.json();
    json["stores"] = store_hashes(data);
    json["processes"] = size_of(options.group);
    json["parameter_groups"] = to_json(group_parameters(task.recipe().train, task.model()).groups);
    write_file(folder.record(), json.dump(2) + "\n");
    write_file(folder.config(), to_toml(task.recipe()));  // last: a folder with one is a run
  } catch (...) {
    lock.clear_folder();
    throw;
  }
}

/// config.toml has the settings that the run was last trained with: how many steps, for example.
void record_settings(const std::string& config, const Recipe& recipe) {
  const std::string settings = to_toml(recipe);
  if (read_file(config) != settings) write_file(config, settings);
}

/// run.json has the number of processes and the stores that the run was last trained with.
void record_resumption(const std::string& record, int64_t processes, const Splits& splits) {
  auto json = nlohmann::ordered_json::parse(read_file(record));
  const auto before = json;
  json["processes"] = processes;
  json["stores"] = store_hashes(splits);
  if (json == before) return;
  write_file(record, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

/// How every layer weighs its members, as a line of metrics.jsonl has it.
MetricRows mixture_rows(torch::nn::Module& model) {
  MetricRows rows;
  for (MixtureShares& one : mixture_shares_of(model)) rows.emplace_back(one.layer, std::move(one.shares));
  return rows;
}

}  // namespace

Outcome train_run(const Recipe& given, const TrainingOptions& asked) {
  if (given.data.train.empty()) invalid("data.train is empty: name the files to learn from");
  Recipe recipe = given;
  if (const auto complete = find_task(recipe.task).complete) complete(recipe);
  TrainingOptions options = asked;
  ProcessGroup* group = options.group;
  const bool first = rank_of(group) == 0;
  if (first) options.resume = resumes(options);
  std::optional<RunLock> lock;
  if (first && options.resume) take_folder(options, recipe, lock);
  if (first && !options.resume) check_free(options.folder);
  if (group) options.resume = group->broadcast(options.resume ? "resume" : "new") == "resume";
  use_threads(recipe.train.threads > 0 ? recipe.train.threads
                                       : threads_of_process(group, options.side_by_side));
  auto tokenizers = share_tokenizers(
      group, [&] { return options.resume ? load_tokenizers(options.folder) : make_tokenizers(recipe); });
  if (options.resume && first) check_tokenizer(RunFolder{options.folder}.state(), tokenizers);
  const auto task = initial_task(recipe, std::move(tokenizers));
  check_watched(*task);
  const auto training = task->open(recipe.data.train, true);
  const auto dev = recipe.data.dev.empty() ? nullptr : task->open(recipe.data.dev, false);
  Splits splits = {training.get()};
  if (dev) splits.push_back(dev.get());
  if (group) check_agreement(*group, recipe, splits);
  if (!options.resume && first) load_initial_weights(*task);  // the others get them from rank 0
  DataChanges changes;
  if (options.resume && first) changes = data_changes(RunFolder{options.folder}.record(), splits);
  if (!options.accept_changed_data) refuse_changes(options.folder, changes);

  TrainingJob job;
  job.title =
      options.title.empty() ? fmt::format("{}", fmt::join(recipe.model.attention, ",")) : options.title;
  job.lines_only = options.side_by_side > 1;
  job.model = &task->model();
  job.on_start = [&](int64_t step) {
    options.say(summary(*task, *training, dev.get(), size_of(group)) + options.note);
    if (const auto warning = dev ? unknown_warning(*dev, unknown_tokens(*dev)) : std::nullopt)
      options.say(*warning);
    if (!options.resume) {
      lock.emplace(options.folder, options.command);
      return make_folder(options, *lock, *task, splits);
    }
    const RunFolder folder{options.folder};
    if (changes.any()) record_changes(folder.record(), splits, step);
    record_resumption(folder.record(), size_of(group), splits);
    record_settings(folder.config(), task->recipe());
  };
  job.batches = training->batches.get();
  job.loss = [&](const Batch& batch) { return loss_with_pondering(*task, batch); };
  if (dev) {
    DecodeOptions greedy = recipe.decode;
    greedy.beam = 1;
    job.validate = [&, greedy] {
      const auto copy = prepared_copy(*task);
      copy->share_evaluation(group);
      return copy->evaluate(*dev, recipe.train.watch != "loss", greedy).scores;
    };
  }
  if (!mixture_shares_of(task->model()).empty()) job.mixtures = [&] { return mixture_rows(task->model()); };
  job.watched = recipe.train.watch;
  job.higher_is_better = !lower_is_better(recipe.train.watch);
  job.unit = task->unit();
  job.seed = static_cast<uint64_t>(recipe.seed);
  job.width = recipe.model.width;
  job.metadata = {{"tokenizer", task->tokenizers().hash()}};
  return train(job, recipe.train, RunFolder{options.folder}, options.resume, group);
}

}  // namespace synthesizer
