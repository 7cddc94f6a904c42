// synth bench attention: one layer of every attention, timed side by side. The peers are in ./run bench.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <functional>

#include "attention/attention.h"
#include "attention/kernel/tile.h"
#include "attention/spec.h"
#include "base/number_text.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/layer_options.h"
#include "report/spread.h"

namespace synthesizer::cli {
namespace {

struct BenchAttentionArguments {
  std::shared_ptr<LayerArguments> layer;
  std::vector<std::string> attentions;
  int64_t batch = 8, length = 0;
  int repeats = 9;
  bool both_directions = false, json = false;
};

/// Every variant, and the mixtures of the paper's tables.
std::vector<std::string> default_attentions() {
  std::vector<std::string> all;
  for (const Variant& v : variants()) all.push_back(v.abbreviation);
  for (const char* mixture : {"D+R", "D+V", "R+V", "FR+V"}) all.emplace_back(mixture);
  return all;
}

struct LayerContender {
  Attention layer;
  at::Tensor x;
  std::vector<double> forward, both;  ///< milliseconds

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
    timed(both, [&] { layer(x).sum().backward(); });
  }
};

std::vector<LayerContender> time_layers(const BenchAttentionArguments& a) {
  AttentionOptions options = a.layer->resolved();
  options.causal = !a.both_directions;
  const int64_t length = a.length > 0 ? a.length : options.max_length;
  std::vector<LayerContender> contenders;
  for (const std::string& attention : a.attentions.empty() ? default_attentions() : a.attentions) {
    options.attention = attention;
    contenders.push_back(
        {Attention(options), at::randn({a.batch, length, options.width}).requires_grad_(), {}, {}});
  }
  // Round by round, so that whatever else the machine does meets all alike. The first round warms up.
  for (int round = 0; round <= a.repeats; ++round) {
    for (LayerContender& contender : contenders) {
      contender.run();
      if (round > 0) continue;
      contender.forward.clear();
      contender.both.clear();
    }
  }
  return contenders;
}

void print_layer_times(const BenchAttentionArguments& a, const std::vector<LayerContender>& contenders) {
  const AttentionOptions& first = contenders.front().layer->options();
  const int64_t length = contenders.front().x.size(1);
  if (a.json) {
    nlohmann::ordered_json object = {{"width", first.width},
                                     {"heads", first.heads},
                                     {"batch", a.batch},
                                     {"length", length},
                                     {"causal", first.causal},
                                     {"threads", at::get_num_threads()},
                                     {"vector", kernel::vector_target()}};
    for (const LayerContender& c : contenders) {
      const Count count = c.layer->mixer().count(length);
      object["rows"].push_back({{"attention", short_spec(c.layer->options().attention)},
                                {"synthesis", count.synthesis},
                                {"total", count.total},
                                {"macs", count.macs},
                                {"forward_ms", median(c.forward)},
                                {"forward_backward_ms", median(c.both)}});
    }
    return fmt::print("{}\n", object.dump(2));
  }
  fmt::print(
      "One attention layer: width {}, {} heads, {} samples of {}, {}; {} threads, {}; medians of {} "
      "rounds\n\n",
      first.width, first.heads, a.batch, length, first.causal ? "causal" : "both directions",
      at::get_num_threads(), kernel::vector_target(), a.repeats);
  TextTable table({"attention", "parameters", "of them S", "multiply-adds", "forward", "with backward"});
  for (const LayerContender& c : contenders) {
    const Count count = c.layer->mixer().count(length);
    table.add({short_spec(c.layer->options().attention), with_thousands(count.total),
               with_thousands(count.synthesis), with_thousands(count.macs),
               fmt::format("{:.1f} ms", median(c.forward)), fmt::format("{:.1f} ms", median(c.both))});
  }
  table.print(1);
  fmt::print("\nMultiply-adds are those of one sample, forward, the whole square of S.\n");
}

}  // namespace

void add_bench_attention(CLI::App& bench) {
  auto* attention = bench.add_subcommand("attention", "one layer of every attention, timed side by side");
  auto a = std::make_shared<BenchAttentionArguments>();
  a->layer = add_layer_arguments(*attention);
  a->layer->layer.max_length = 512;
  attention->add_option("--attention", a->attentions, "which ones, separated by commas (default: all)")
      ->delimiter(',');
  attention->add_option("--batch", a->batch, "samples")->capture_default_str()->check(CLI::PositiveNumber);
  attention->add_option("--length", a->length, "their length (default: max-length)")
      ->check(CLI::PositiveNumber);
  attention->add_option("--repeats", a->repeats, "rounds")->capture_default_str()->check(CLI::PositiveNumber);
  attention->add_flag("--both-directions", a->both_directions, "no causal mask");
  attention->add_flag("--json", a->json, "as a JSON object");
  attention->callback([a] { print_layer_times(*a, time_layers(*a)); });
}

}  // namespace synthesizer::cli
