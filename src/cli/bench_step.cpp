// synth bench step: one training step of whole models, forward, backward and optimizer. ./run bench step sets
// the peers beside it, each in a process of its own that takes a step when it is told to.

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>

#include "base/number_text.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/on_request.h"
#include "cli/step_parts.h"
#include "cli/step_setting.h"
#include "report/spread.h"
#include "runtime/memory.h"

namespace synthesizer::cli {
namespace {

struct BenchStepArguments {
  std::string setting = "demo", precision = "float32", folder;
  std::vector<std::string> attentions = {"V", "D", "R", "FR", "FD", "R+V", "light-conv", "dynamic-conv"};
  int repeats = 5;
  bool parts = false, json = false;
};

struct TimedStep {
  double seconds, loss;
};

TimedStep timed_step(StepContender& contender, bool dropout = true) {
  const auto begin = std::chrono::steady_clock::now();
  const double loss = contender.step(dropout);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), loss};
}

StepSetting setting_of(const BenchStepArguments& a) {
  StepSetting setting = find_step_setting(a.setting);
  setting.train.precision = a.precision;
  check(setting.train);
  return setting;
}

/// Leaves weights and tokens where a peer finds them, and takes a step for every line that comes in; one
/// without dropout for "check", so that losses can be compared.
void step_on_request(const BenchStepArguments& a) {
  const std::string& attention = only_attention(a.attentions);
  const StepSetting setting = setting_of(a);
  const double before = memory_bytes();
  StepContender contender(setting, attention);
  leave_for_peers(a.folder, contender.model(), contender.tokens());
  say(facts_of(setting, attention));
  for (std::string line; std::getline(std::cin, line);) {
    const TimedStep step = timed_step(contender, line != "check");
    say({{"seconds", step.seconds}, {"loss", step.loss}, {"peak", peak_memory_bytes() - before}});
  }
}

void print_step_times(const BenchStepArguments& a) {
  const StepSetting setting = setting_of(a);
  std::vector<StepContender> contenders;
  for (const std::string& attention : a.attentions) contenders.emplace_back(setting, attention);
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = 0; round <= a.repeats; ++round) {  // the first one warms up
    for (size_t i = 0; i < contenders.size(); ++i) {
      const TimedStep step = timed_step(contenders[i]);
      if (round > 0) times[i].push_back(step.seconds);
    }
  }
  if (a.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (size_t i = 0; i < times.size(); ++i)
      rows.push_back({{"attention", a.attentions[i]}, {"seconds", median(times[i])}});
    return fmt::print("{}\n", nlohmann::ordered_json{{"setting", setting.name}, {"rows", rows}}.dump(2));
  }
  fmt::print("One training step: {}; {} threads, medians of {} rounds\n\n", setting.about,
             at::get_num_threads(), a.repeats);
  TextTable table({"attention", "step", "to the first"});
  for (size_t i = 0; i < times.size(); ++i) {
    table.add({a.attentions[i], fmt::format("{:.1f} ms", median(times[i]) * 1000),
               fmt::format("{:.2f}×", median(times[0]) / median(times[i]))});
  }
  table.print(1);
}

/// One attention's steps taken apart.
void print_step_parts(const BenchStepArguments& a) {
  const StepSetting setting = setting_of(a);
  fmt::print("Where a training step's time goes: {}; {} threads, {} steps\n", setting.about,
             at::get_num_threads(), a.repeats);
  for (const std::string& attention : a.attentions) {
    StepContender contender(setting, attention);
    contender.step(true);
    const StepParts parts(setting.model.feed_forward);
    double all = 0;
    for (int n = 0; n < a.repeats; ++n) all += timed_step(contender).seconds;
    fmt::print("\n{}: {:.1f} ms a step\n", attention, all / a.repeats * 1000);
    TextTable table({"part", "time", "share"});
    double known = 0;
    auto add = [&](const std::string& part, double seconds) {
      table.add({part, fmt::format("{:.1f} ms", seconds / a.repeats * 1000),
                 fmt::format("{:.0f}%", seconds / all * 100)});
    };
    for (const auto& [part, seconds] : parts.seconds()) {
      add(part, seconds);
      known += seconds;
    }
    add("between operators", all - known);
    table.print(1);
  }
}

}  // namespace

void add_bench_step(CLI::App& bench) {
  auto* command = bench.add_subcommand("step", "one training step of whole models, timed side by side");
  auto a = std::make_shared<BenchStepArguments>();
  command->add_option("--setting", a->setting, "demo, translation or encoder")->capture_default_str();
  command->add_option("--attention", a->attentions, "which ones, separated by commas")->delimiter(',');
  command->add_option("--precision", a->precision, "float32 or bfloat16")->capture_default_str();
  command->add_option("--repeats", a->repeats, "rounds")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_option("--on-request", a->folder,
                      "leaves weights and tokens in this folder, and takes a step for every line it reads");
  command->add_flag("--parts", a->parts, "where the time goes: projections, core, feed-forward, …");
  command->add_flag("--json", a->json, "as a JSON object");
  command->callback([a] {
    if (!a->folder.empty()) return step_on_request(*a);
    a->parts ? print_step_parts(*a) : print_step_times(*a);
  });
}

}  // namespace synthesizer::cli
