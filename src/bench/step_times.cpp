#include "bench/step_times.h"

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/peer_protocol.h"
#include "bench/step_profiler.h"
#include "report/spread.h"
#include "runtime/memory.h"

namespace synthesizer::bench {
namespace {

struct TimedStep {
  double seconds, loss;
};

TimedStep timed_step(StepBenchmark& benchmark, bool dropout = true) {
  const auto begin = std::chrono::steady_clock::now();
  const double loss = benchmark.step(dropout);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), loss};
}

TimedStep requested_step(StepBenchmark& benchmark, const std::string& line) {
  if (line != "alone" && line != "exchange") return timed_step(benchmark, line != "check");
  const auto begin = std::chrono::steady_clock::now();
  const double result = line == "alone" ? benchmark.step_alone() : static_cast<double>(benchmark.exchange());
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), result};
}

}  // namespace

std::vector<double> time_steps(const StepSetting& setting, const std::vector<std::string>& attentions,
                               int repeats) {
  std::vector<StepBenchmark> benchmarks;
  for (const std::string& attention : attentions) benchmarks.emplace_back(setting, attention);
  std::vector<std::vector<double>> times(benchmarks.size());
  for (int round = 0; round <= repeats; ++round) {  // the first one warms up
    for (size_t i = 0; i < benchmarks.size(); ++i) {
      const TimedStep step = timed_step(benchmarks[i]);
      if (round > 0) times[i].push_back(step.seconds);
    }
  }
  std::vector<double> medians;
  for (const auto& one : times) medians.push_back(median(one));
  return medians;
}

StepShares time_step_parts(const StepSetting& setting, const std::string& attention, int repeats) {
  StepBenchmark benchmark(setting, attention);
  benchmark.step(true);
  const StepProfiler parts(setting.model.feed_forward);
  double all = 0, known = 0;
  for (int n = 0; n < repeats; ++n) all += timed_step(benchmark).seconds;
  StepShares shares{all / repeats, {}};
  for (const auto& [part, seconds] : parts.seconds()) {
    shares.parts.emplace_back(part, seconds / repeats);
    known += seconds;
  }
  shares.parts.emplace_back("between operators", (all - known) / repeats);
  return shares;
}

void steps_on_request(const StepSetting& setting, const std::string& attention, const std::string& folder,
                      ProcessGroup* group) {
  const double before = memory_bytes();
  StepBenchmark benchmark(setting, attention, group);
  if (rank_of(group) == 0) write_peer_inputs(folder, benchmark.model(), benchmark.tokens());
  print_json_line(setting_json(setting, attention));
  for (std::string line; std::getline(std::cin, line);) {
    const TimedStep step = requested_step(benchmark, line);
    print_json_line({{"seconds", step.seconds}, {"loss", step.loss}, {"peak", peak_memory_bytes() - before}});
  }
}

}  // namespace synthesizer::bench
