// synth bench step: one training step of whole models, forward, backward and optimizer. ./run bench step sets
// the peers beside it, each in a process of its own that takes a step when it is told to.

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/peer_protocol.h"
#include "bench/step_times.h"
#include "cli/bench.h"
#include "cli/choice_option.h"
#include "cli/command.h"
#include "cli/number_checks.h"
#include "cli/print.h"
#include "train/run_processes.h"

namespace synthesizer::cli {
namespace {

struct BenchStepArguments {
  std::string setting = "demo", folder;
  Precision precision = Precision::float32;
  std::vector<std::string> attentions = {"V", "D", "R", "FR", "FD", "R+V", "light-conv", "dynamic-conv"};
  int repeats = 5;
  bool shard_optimizer = false, checkpoint_activations = false, parts = false, json = false;
};

bench::StepSetting setting_of(const BenchStepArguments& a) {
  bench::StepSetting setting = bench::find_step_setting(a.setting);
  setting.train.precision = a.precision;
  setting.train.shard_optimizer = a.shard_optimizer;
  setting.train.checkpoint_activations = a.checkpoint_activations;
  check(setting.train);
  return setting;
}

void print_step_times(const BenchStepArguments& a) {
  const bench::StepSetting setting = setting_of(a);
  const auto seconds = time_steps(setting, a.attentions, a.repeats);
  if (a.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (size_t i = 0; i < seconds.size(); ++i)
      rows.push_back({{"attention", a.attentions[i]}, {"seconds", seconds[i]}});
    return print_out("{}\n", nlohmann::ordered_json{{"setting", setting.name}, {"rows", rows}}.dump(2));
  }
  print_out("One training step: {}; {} threads, medians of {} rounds\n\n", setting.about,
            at::get_num_threads(), a.repeats);
  TextTable table({"attention", "step", "speed vs. first"});
  for (size_t i = 0; i < seconds.size(); ++i) {
    table.add({a.attentions[i], fmt::format("{:.1f} ms", seconds[i] * 1000),
               fmt::format("{:.2f}×", seconds[0] / seconds[i])});
  }
  table.print(1);
}

/// One attention's steps taken apart.
void print_step_parts(const BenchStepArguments& a) {
  const bench::StepSetting setting = setting_of(a);
  print_out("Time of the parts of a training step: {}; {} threads, {} steps\n", setting.about,
            at::get_num_threads(), a.repeats);
  for (const std::string& attention : a.attentions) {
    const bench::StepShares step = time_step_parts(setting, attention, a.repeats);
    print_out("\n{}: {:.1f} ms per step\n", attention, step.seconds * 1000);
    TextTable table({"part", "time", "share"});
    for (const auto& [part, seconds] : step.parts) {
      table.add({part, fmt::format("{:.1f} ms", seconds * 1000),
                 fmt::format("{:.0f}%", seconds / step.seconds * 100)});
    }
    table.print(1);
  }
}

}  // namespace

void add_bench_step(CLI::App& bench) {
  auto* command = bench.add_subcommand("step", "time one training step of whole models");
  auto a = std::make_shared<BenchStepArguments>();
  command->add_option("--setting", a->setting, "model and task: demo, translation or encoder")
      ->capture_default_str()
      ->check(suggested({"demo", "translation", "encoder"}));
  command->add_option("--attention", a->attentions, "variants, mixtures and baselines, separated by commas")
      ->delimiter(',');
  add_choice(*command, "--precision", a->precision, "precision of the computation: ");
  command->add_option("--repeats", a->repeats, "number of rounds")->capture_default_str()->check(at_least(1));
  command->add_option(
      "--peer-folder", a->folder,
      "write weights and tokens to this folder, then run one step per line of standard input");
  command->add_flag("--shard-optimizer", a->shard_optimizer,
                    "with several processes (torchrun): as train.shard_optimizer");
  command->add_flag("--checkpoint-activations", a->checkpoint_activations, "as train.checkpoint_activations");
  command->add_flag("--parts", a->parts, "print the time of each part: projections, core, feed-forward, …");
  command->add_flag("--json", a->json, "print a JSON object");
  command->callback([a] {
    if (!a->folder.empty()) {
      run_processes(
          {},
          [&](ProcessGroup* group) {
            steps_on_request(setting_of(*a), bench::single_attention(a->attentions), a->folder, group);
          },
          [](int64_t) { return 0; });
      return;
    }
    a->parts ? print_step_parts(*a) : print_step_times(*a);
  });
}

}  // namespace synthesizer::cli
