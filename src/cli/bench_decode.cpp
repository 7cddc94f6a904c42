// synth bench decode: translation by a Transformer base with random weights and fixed lengths. ./run bench
// decode sets the peers beside it, each in a process of its own that translates when it is told to.

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

#include "cli/bench.h"
#include "cli/command.h"
#include "cli/decode_contender.h"
#include "cli/on_request.h"
#include "report/spread.h"
#include "runtime/memory.h"

namespace synthesizer::cli {
namespace {

struct BenchDecodeArguments {
  std::string quantize, folder;
  std::vector<std::string> attentions = {"V", "R"};
  std::vector<int64_t> beams = {1, 4}, batches = {1, 32};
  int64_t length = 32, source_length = 32;
  int repeats = 3;
};

nlohmann::json tokens_json(const Decoded& decoded) {
  auto sentences = nlohmann::json::array();
  for (const auto& hypotheses : decoded.outputs) {
    auto& one = sentences.emplace_back(nlohmann::json::array());
    for (const Hypothesis& hypothesis : hypotheses) one.push_back(hypothesis.tokens);
  }
  return sentences;
}

void decode_on_request(const BenchDecodeArguments& a) {
  const std::string& attention = only_attention(a.attentions);
  const StepSetting setting = decode_setting(a.source_length, a.length);
  const double before = memory_bytes();
  DecodeContender contender(setting, attention, a.source_length);
  leave_for_peers(a.folder, contender.model(), {{"source", contender.source()}});
  contender.prepare(a.quantize);
  auto about = facts_of(setting, attention);
  about.update({{"source_length", a.source_length},
                {"begin", DecodeContender::kBegin},
                {"end", DecodeContender::kEnd},
                {"quantize", a.quantize}});
  say(about);
  for (std::string line; std::getline(std::cin, line);) {
    const auto wanted = nlohmann::json::parse(line);
    const Decoded done = contender.decode(wanted.at("beam"), wanted.at("batch"));
    say({{"seconds", done.seconds},
         {"tokens", done.tokens},
         {"peak", peak_memory_bytes() - before},
         {"outputs", tokens_json(done)}});
  }
}

void print_decode_rates(const BenchDecodeArguments& a) {
  const StepSetting setting = decode_setting(a.source_length, a.length);
  std::vector<DecodeContender> contenders;
  for (const std::string& attention : a.attentions) {
    contenders.emplace_back(setting, attention, a.source_length);
    contenders.back().prepare(a.quantize);
  }
  fmt::print("Translation by a Transformer base, {} tokens from {}; {} threads, medians of {} rounds{}\n\n",
             a.length, a.source_length, at::get_num_threads(), a.repeats,
             a.quantize.empty() ? "" : ", " + a.quantize);
  std::vector<std::string> head = {"beam", "batch"};
  for (const std::string& attention : a.attentions) head.push_back(attention + " tokens/s");
  TextTable table(head);
  for (const int64_t beam : a.beams) {
    for (const int64_t batch : a.batches) {
      std::vector<std::vector<double>> rates(contenders.size());
      for (int round = 0; round <= a.repeats; ++round) {  // the first one warms up
        for (size_t i = 0; i < contenders.size(); ++i) {
          const Decoded done = contenders[i].decode(beam, batch);
          if (round > 0) rates[i].push_back(static_cast<double>(done.tokens) / done.seconds);
        }
      }
      std::vector<std::string> row = {std::to_string(beam), std::to_string(batch)};
      for (const auto& rate : rates) row.push_back(fmt::format("{:.0f}", median(rate)));
      table.add(row);
    }
  }
  table.print(0);
}

}  // namespace

void add_bench_decode(CLI::App& bench) {
  auto* command = bench.add_subcommand("decode", "translation by a Transformer base, in tokens a second");
  auto a = std::make_shared<BenchDecodeArguments>();
  command->add_option("--attention", a->attentions, "which ones, separated by commas")->delimiter(',');
  command->add_option("--quantize", a->quantize, "int8: weights as whole numbers")
      ->check(CLI::IsMember({"int8"}));
  command->add_option("--beam", a->beams, "hypotheses a sentence")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  command->add_option("--batch", a->batches, "sentences at a time, at most 32")
      ->delimiter(',')
      ->check(CLI::Range(1, static_cast<int>(DecodeContender::kSentences)));
  command->add_option("--length", a->length, "tokens of every output")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--source-length", a->source_length, "tokens of every source")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--repeats", a->repeats, "rounds")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_option("--on-request", a->folder,
                      "leaves weights and sentences in this folder, and translates for every line it reads");
  command->callback([a] { a->folder.empty() ? print_decode_rates(*a) : decode_on_request(*a); });
}

}  // namespace synthesizer::cli
