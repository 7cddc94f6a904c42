#include "bench/decode_rates.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "attention/quantization.h"
#include "bench/decode_benchmark.h"
#include "bench/peer_protocol.h"
#include "report/spread.h"
#include "runtime/memory.h"

namespace synthesizer::bench {
namespace {

nlohmann::json tokens_json(const Decoded& decoded) {
  auto sentences = nlohmann::json::array();
  for (const auto& hypotheses : decoded.outputs) {
    auto& one = sentences.emplace_back(nlohmann::json::array());
    for (const Hypothesis& hypothesis : hypotheses) one.push_back(hypothesis.tokens);
  }
  return sentences;
}

}  // namespace

std::vector<DecodeRates> time_decoding(const DecodeBench& bench) {
  const StepSetting setting = decode_setting(bench.source_length, bench.length);
  std::vector<DecodeBenchmark> benchmarks;
  for (const std::string& attention : bench.attentions) {
    benchmarks.emplace_back(setting, attention, bench.source_length);
    benchmarks.back().prepare(bench.quantize);
  }
  std::vector<DecodeRates> all;
  for (const int64_t beam : bench.beams) {
    for (const int64_t batch : bench.batches) {
      std::vector<std::vector<double>> rates(benchmarks.size());
      for (int round = 0; round <= bench.repeats; ++round) {  // the first one warms up
        for (size_t i = 0; i < benchmarks.size(); ++i) {
          const Decoded done = benchmarks[i].decode(beam, batch);
          if (round > 0) rates[i].push_back(static_cast<double>(done.tokens) / done.seconds);
        }
      }
      all.push_back({beam, batch, {}});
      for (const auto& rate : rates) all.back().tokens_per_second.push_back(median(rate));
    }
  }
  return all;
}

void decode_for_peers(const DecodeBench& bench, const std::string& folder) {
  const std::string& attention = single_attention(bench.attentions);
  const StepSetting setting = decode_setting(bench.source_length, bench.length);
  const double before = memory_bytes();
  DecodeBenchmark benchmark(setting, attention, bench.source_length);
  write_peer_inputs(folder, benchmark.model(), {{"source", benchmark.source()}});
  benchmark.prepare(bench.quantize);
  auto about = setting_json(setting, attention);
  about.update({{"source_length", bench.source_length},
                {"begin", DecodeBenchmark::kBegin},
                {"end", DecodeBenchmark::kEnd},
                {"quantize", bench.quantize ? choice_name(*bench.quantize) : ""}});
  print_json_line(about);
  for (std::string line; std::getline(std::cin, line);) {
    const auto wanted = nlohmann::json::parse(line);
    const Decoded done = benchmark.decode(wanted.at("beam"), wanted.at("batch"));
    print_json_line({{"seconds", done.seconds},
                     {"tokens", done.tokens},
                     {"peak", peak_memory_bytes() - before},
                     {"outputs", tokens_json(done)}});
  }
}

}  // namespace synthesizer::bench
