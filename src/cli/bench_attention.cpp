// synth bench attention: times one layer of each attention variant and baseline. The peers are in ./run
// bench.

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "attention/kernel/tile.h"
#include "base/number_text.h"
#include "bench/layer_times.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/layer_options.h"
#include "cli/number_checks.h"
#include "cli/print.h"

namespace synthesizer::cli {
namespace {

struct BenchAttentionArguments {
  std::shared_ptr<LayerArguments> layer;
  bench::LayerBench bench;
  bool both_directions = false, json = false;
};

void print_layer_times(const bench::LayerBench& b, bool json) {
  const AttentionOptions& layer = b.layer;
  const auto times = time_layers(b);
  const auto ratios = speed_ratios(times);
  if (json) {
    nlohmann::ordered_json object = {{"width", layer.width},
                                     {"heads", layer.heads},
                                     {"batch", b.batch},
                                     {"length", b.sample_length()},
                                     {"causal", layer.causal},
                                     {"threads", at::get_num_threads()},
                                     {"vector", kernel::vector_target()}};
    for (const bench::LayerTimes& one : times) {
      object["rows"].push_back({{"attention", one.attention},
                                {"synthesis", one.count.synthesis},
                                {"total", one.count.total},
                                {"macs", one.count.macs},
                                {"forward_ms", one.forward},
                                {"forward_backward_ms", one.training}});
    }
    object["ratios"] = nlohmann::ordered_json::array();
    for (const bench::SpeedRatio& one : ratios) {
      object["ratios"].push_back({{"attention", one.attention},
                                  {"over", one.over},
                                  {"forward", one.forward},
                                  {"forward_backward", one.training}});
    }
    return print_out("{}\n", object.dump(2));
  }
  print_out(
      "One attention layer: width {}, {} heads, {} samples of {}, {}; {} threads, {}; medians of {} "
      "rounds\n\n",
      layer.width, layer.heads, b.batch, b.sample_length(), layer.causal ? "causal" : "both directions",
      at::get_num_threads(), kernel::vector_target(), b.repeats);
  TextTable table({"attention", "parameters", "of S", "multiply-adds", "forward", "with backward"});
  for (const bench::LayerTimes& one : times) {
    table.add({one.attention, with_thousands(one.count.total), with_thousands(one.count.synthesis),
               with_thousands(one.count.macs), fmt::format("{:.1f} ms", one.forward),
               fmt::format("{:.1f} ms", one.training)});
  }
  table.print(1);
  print_out("\nMultiply-adds: forward pass of one sample, with the full matrix S.\n");
  if (ratios.empty()) return;
  print_out("\nRatio of the speeds of two variants, in the same rounds\n\n");
  TextTable compared({"", "forward", "with backward"});
  for (const bench::SpeedRatio& one : ratios) {
    compared.add({one.attention + " over " + one.over, fmt::format("{:.2f}×", one.forward),
                  fmt::format("{:.2f}×", one.training)});
  }
  compared.print(1);
}

}  // namespace

void add_bench_attention(CLI::App& bench) {
  auto* attention =
      bench.add_subcommand("attention", "time one layer of each attention variant and baseline");
  auto a = std::make_shared<BenchAttentionArguments>();
  a->layer = add_layer_arguments(*attention);
  a->layer->layer.max_length = 512;
  attention
      ->add_option("--attention", a->bench.attentions,
                   "variants, mixtures and baselines, separated by commas (default: all)")
      ->delimiter(',');
  attention->add_option("--batch", a->bench.batch, "number of samples")
      ->capture_default_str()
      ->check(at_least(1));
  attention->add_option("--length", a->bench.length, "length of the samples (default: max-length)")
      ->check(at_least(1));
  attention->add_option("--repeats", a->bench.repeats, "number of rounds")
      ->capture_default_str()
      ->check(at_least(1));
  attention->add_flag("--both-directions", a->both_directions, "without a causal mask");
  attention->add_flag("--json", a->json, "print a JSON object");
  attention->callback([a] {
    a->bench.layer = a->layer->resolved();
    a->bench.layer.causal = !a->both_directions;
    print_layer_times(a->bench, a->json);
  });
}

}  // namespace synthesizer::cli
