#include "inspect/inspection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "inspect/capture_attention.h"
#include "inspect/new_run.h"
#include "inspect/statistics.h"
#include "model/layers_of.h"
#include "run/metrics_log.h"
#include "task/initial_weights.h"
#include "task/registry.h"

namespace synthesizer {
namespace {

/// A text of about this many tokens is easy to look at; of a running text so many are shown.
constexpr int64_t kReadable = 20, kRunning = 32;

int64_t longest_side(const Task& task, const Batch& example) {
  int64_t longest = 0;
  for (const SideInput& input : task.inputs_of(example))
    longest = std::max(longest, input.tokens.lengths.front());
  return longest;
}

/// The first texts of dev, one per batch.
std::vector<Batch> dev_examples(const Task& task, int64_t lines) {
  const auto& files = task.recipe().data.dev;
  if (files.empty()) invalid("this run's recipe has no data.dev to inspect: give --text");
  const auto dev = task.open(files, false);
  std::vector<Batch> examples;
  for (int64_t n = 0; n < dev->batches->per_epoch(); ++n) {
    const Batch batch = dev->batches->make(n);
    for (size_t row = 0; row < batch.fields[0].lengths.size(); ++row) {
      examples.push_back(single_row(batch, row));
      if (static_cast<int64_t>(examples.size()) == lines) return examples;
    }
  }
  return examples;
}

/// Which of them is shown, and of a running text only its beginning: each row looks back alone.
Batch readable(const Task& task, const std::vector<Batch>& examples) {
  auto unlike = [&](const Batch& one) { return std::abs(longest_side(task, one) - kReadable); };
  const auto best = std::min_element(examples.begin(), examples.end(),
                                     [&](const Batch& a, const Batch& b) { return unlike(a) < unlike(b); });
  const bool running = find_task(task.recipe().task).sides == std::vector<Side>{Side::decoder};
  return running ? single_row(*best, 0, kRunning) : *best;
}

/// `before`: of the same texts with the weights that training began with; no texts: these are not known.
void take_layers(Inspection& found, std::vector<CapturedLayer> shown, const Statistics& statistics,
                 const Statistics& before) {
  // What is left out of the layers is left out of the places that pairs of heads name.
  std::vector<size_t> places;
  for (size_t n = 0; n < shown.size(); ++n) {
    places.push_back(found.layers.size());
    if (shown[n].heads.empty()) {
      found.without_weights.push_back(std::move(shown[n]));
    } else {
      found.layers.push_back({std::move(shown[n]), statistics.numbers(n), statistics.histogram(n), {}});
      if (before.texts() > 0) found.layers.back().start = before.histogram(n);
    }
  }
  found.identical = statistics.identical();
  for (HeadPair& pair : found.identical) {
    pair.first_layer = places[pair.first_layer];
    pair.second_layer = places[pair.second_layer];
  }
}

/// The model as training began with it; null where that cannot be had any more.
std::unique_ptr<Task> start_of(const OpenRun& run) {
  if (is_derived_run(run.folder)) return nullptr;
  auto start = initial_task(run.task->recipe(), run.task->tokenizers());
  try {
    load_initial_weights(*start);
  } catch (const InvalidInput&) {
    return nullptr;  // the run it began from is gone, or another by now
  }
  start->model().eval();
  return start;
}

void take_mixtures(Inspection& found, const OpenRun& run) {
  for (MixtureShares& one : mixture_shares_of(run.task->model())) {
    found.mixture_members.push_back(std::move(one.members));
    found.mixtures.push_back({-1, std::move(one.layer), std::move(one.shares)});
  }
  if (found.mixtures.empty() || !std::filesystem::exists(run.folder.metrics())) return;
  for (Measurement& line : MetricsLog::read(run.folder.metrics())) {
    if (line.split != "mixture") continue;
    for (auto& [layer, shares] : line.rows)
      found.mixtures_over_training.push_back({line.step, layer, std::move(shares)});
  }
}

}  // namespace

Inspection inspect_run(const OpenRun& run, const InspectOptions& options) {
  Task& task = *run.task;
  Inspection found;
  found.run = run.folder.path;
  found.task = task.recipe().task;
  found.attention = fmt::format("{}", fmt::join(task.recipe().model.attention, ","));
  const auto start = start_of(run);
  found.start_known = start != nullptr;
  Statistics statistics, before;
  Batch shown;
  std::vector<CapturedLayer> captured;
  if (options.text.empty()) {
    found.from = "dev";
    const auto examples = dev_examples(task, options.lines);
    for (const Batch& example : examples) {
      statistics.add(capture_attention(task, example));
      if (start) before.add(capture_attention(*start, example));
    }
    shown = readable(task, examples);
    captured = capture_attention(task, shown);
  } else {
    found.from = "--text";
    GivenText given = example_of(task, options.text, options.target);
    found.text = given.text;
    found.target = given.target;
    shown = std::move(given.example);
    captured = capture_attention(task, shown);
    statistics.add(captured);
    if (start) before.add(capture_attention(*start, shown));
  }
  found.texts = statistics.texts();
  for (SideTokens& tokens : tokens_of(task, shown)) {
    (tokens.side == Side::encoder ? found.encoder_tokens : found.decoder_tokens) = std::move(tokens.pieces);
  }
  take_layers(found, std::move(captured), statistics, before);
  found.tables = random_tables(task.model(), start ? &start->model() : nullptr, options.shown);
  take_mixtures(found, run);
  return found;
}

}  // namespace synthesizer
