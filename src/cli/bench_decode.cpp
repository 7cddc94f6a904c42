// synth bench decode: translation by a Transformer base with random weights and fixed lengths. ./run bench
// decode sets the peers beside it, each in a process of its own that translates when it is told to.

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "attention/quantization.h"
#include "bench/decode_benchmark.h"
#include "bench/decode_rates.h"
#include "cli/bench.h"
#include "cli/choice_option.h"
#include "cli/command.h"
#include "cli/number_checks.h"
#include "cli/print.h"

namespace synthesizer::cli {
namespace {

struct BenchDecodeArguments {
  bench::DecodeBench bench;
  std::string folder;
};

void print_decode_rates(const bench::DecodeBench& b) {
  print_out("Translation by a Transformer base, {} tokens from {}; {} threads, medians of {} rounds{}\n\n",
            b.length, b.source_length, at::get_num_threads(), b.repeats,
            b.quantize ? ", " + choice_name(*b.quantize) : "");
  std::vector<std::string> head = {"beam", "batch"};
  for (const std::string& attention : b.attentions) head.push_back(attention + " tokens/s");
  TextTable table(head);
  for (const bench::DecodeRates& rates : time_decoding(b)) {
    std::vector<std::string> row = {std::to_string(rates.beam), std::to_string(rates.batch)};
    for (const double rate : rates.tokens_per_second) row.push_back(fmt::format("{:.0f}", rate));
    table.add(row);
  }
  table.print(0);
}

}  // namespace

void add_bench_decode(CLI::App& bench) {
  auto* command =
      bench.add_subcommand("decode", "measure translation by a Transformer base, in tokens per second");
  auto a = std::make_shared<BenchDecodeArguments>();
  command
      ->add_option("--attention", a->bench.attentions,
                   "variants, mixtures and baselines, separated by commas")
      ->delimiter(',');
  add_choice(*command, "--quantize", a->bench.quantize, "quantize the weights: ");
  command->add_option("--beam", a->bench.beams, "numbers of hypotheses per sentence, separated by commas")
      ->delimiter(',')
      ->check(at_least(1));
  command
      ->add_option("--batch", a->bench.batches,
                   "numbers of sentences per batch, separated by commas, at most 32")
      ->delimiter(',')
      ->check(between(1, bench::DecodeBenchmark::kSentences));
  command->add_option("--length", a->bench.length, "number of tokens per output")
      ->capture_default_str()
      ->check(at_least(1));
  command->add_option("--source-length", a->bench.source_length, "number of tokens per source")
      ->capture_default_str()
      ->check(at_least(1));
  command->add_option("--repeats", a->bench.repeats, "number of rounds")
      ->capture_default_str()
      ->check(at_least(1));
  command->add_option(
      "--peer-folder", a->folder,
      "write weights and sentences to this folder, then translate once per line of standard input");
  command->callback(
      [a] { a->folder.empty() ? print_decode_rates(a->bench) : decode_for_peers(a->bench, a->folder); });
}

}  // namespace synthesizer::cli
