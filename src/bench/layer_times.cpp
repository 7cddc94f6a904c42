#include "bench/layer_times.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "attention/attention.h"
#include "attention/registry.h"
#include "attention/spec.h"
#include "report/spread.h"

namespace synthesizer::bench {
namespace {

std::vector<std::string> default_attentions() {
  std::vector<std::string> all;
  for (const Variant& v : variants()) all.push_back(v.abbreviation);
  for (const char* mixture : {"D+R", "D+V", "R+V", "FR+V"}) all.emplace_back(mixture);
  return all;
}

struct LayerBenchmark {
  Attention layer;
  at::Tensor x;
  std::vector<double> forward, training;  ///< milliseconds

  void run() {
    auto timed = [](std::vector<double>& times, const std::function<void()>& body) {
      const auto begin = std::chrono::steady_clock::now();
      body();
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    };
    timed(forward, [&] {
      c10::NoGradGuard no_grad;
      layer(x);
    });
    layer->zero_grad();
    timed(training, [&] { layer(x).sum().backward(); });
  }
};

}  // namespace

std::vector<LayerTimes> time_layers(const LayerBench& bench) {
  AttentionOptions options = bench.layer;
  const int64_t length = bench.sample_length();
  std::vector<LayerBenchmark> benchmarks;
  for (const std::string& attention : bench.attentions.empty() ? default_attentions() : bench.attentions) {
    options.attention = attention;
    benchmarks.push_back(
        {Attention(options), at::randn({bench.batch, length, options.width}).requires_grad_(), {}, {}});
  }
  // Round by round, so that whatever else the machine does meets all alike. The first round warms up.
  for (int round = 0; round <= bench.repeats; ++round) {
    for (LayerBenchmark& benchmark : benchmarks) {
      benchmark.run();
      if (round > 0) continue;
      benchmark.forward.clear();
      benchmark.training.clear();
    }
  }
  std::vector<LayerTimes> times;
  for (const LayerBenchmark& c : benchmarks) {
    times.push_back({short_spec(c.layer->options().attention), c.layer->mixer().count(length),
                     median(c.forward), median(c.training)});
  }
  return times;
}

std::vector<SpeedRatio> speed_ratios(const std::vector<LayerTimes>& times) {
  auto find = [&](const char* attention) {
    return std::find_if(times.begin(), times.end(),
                        [&](const LayerTimes& one) { return one.attention == attention; });
  };
  std::vector<SpeedRatio> ratios;
  for (const auto& [attention, over] : {std::pair("R", "V"), std::pair("FR", "R"), std::pair("R+V", "V")}) {
    const auto one = find(attention), other = find(over);
    if (one == times.end() || other == times.end()) continue;
    ratios.push_back({attention, over, other->forward / one->forward, other->training / one->training});
  }
  return ratios;
}

}  // namespace synthesizer::bench
