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

/// Seconds that some work takes.
template <typename Work>
double timed(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double timed_step(StepBenchmark& benchmark) {
  return timed([&] { benchmark.step(true); });
}

/// What a line of standard input asks for, timed.
nlohmann::json requested(StepBenchmark& benchmark, const std::string& line) {
  if (line == "exchange") {
    int64_t bytes = 0;
    const double seconds = timed([&] { bytes = benchmark.exchange(); });
    return {{"seconds", seconds}, {"bytes", bytes}};
  }
  StepSums sums;
  const double seconds = timed([&] { sums = benchmark.step(line != "check"); });
  return {{"seconds", seconds},
          {"loss", sums.nll / static_cast<double>(sums.tokens)},
          {"exchange_wait", sums.exchange_wait}};
}

}  // namespace

std::vector<double> time_steps(const StepSetting& setting, const std::vector<std::string>& attentions,
                               int repeats) {
  std::vector<StepBenchmark> benchmarks;
  for (const std::string& attention : attentions) benchmarks.emplace_back(setting, attention);
  std::vector<std::vector<double>> times(benchmarks.size());
  for (int round = 0; round <= repeats; ++round) {  // the first one warms up
    for (size_t i = 0; i < benchmarks.size(); ++i) {
      const double seconds = timed_step(benchmarks[i]);
      if (round > 0) times[i].push_back(seconds);
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
  for (int n = 0; n < repeats; ++n) all += timed_step(benchmark);
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
    nlohmann::json answer = requested(benchmark, line);
    answer["peak"] = peak_memory_bytes() - before;
    print_json_line(answer);
  }
}

}  // namespace synthesizer::bench
