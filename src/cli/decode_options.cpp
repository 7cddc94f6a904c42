#include "cli/decode_options.h"

#include <CLI/CLI.hpp>

namespace synthesizer::cli {

DecodeOptions DecodeArguments::over(DecodeOptions all) const {
  all.beam = beam.value_or(all.beam);
  all.length_penalty = length_penalty.value_or(all.length_penalty);
  all.length_normalization = length_normalization.value_or(all.length_normalization);
  all.min_length = min_length.value_or(all.min_length);
  all.max_length = max_length.value_or(all.max_length);
  all.no_repeat_ngram = no_repeat_ngram.value_or(all.no_repeat_ngram);
  if (no_early_stopping) all.early_stopping = false;
  check(all);
  return all;
}

void add_decode_options(CLI::App& command, DecodeArguments& a) {
  command.add_option("--beam", a.beam, "hypotheses a sentence; 1 is greedy (default: the recipe's)");
  command.add_option("--length-penalty", a.length_penalty, "0: none; larger favours longer outputs");
  command.add_option("--length-normalization", a.length_normalization, "power (Marian, fairseq) or gnmt");
  command.add_option("--min-length", a.min_length, "tokens of the output, at least");
  command.add_option("--max-length", a.max_length, "tokens of the output, at most");
  command.add_option("--no-repeat-ngram", a.no_repeat_ngram,
                     "so many tokens in a row never occur twice; 0: they may");
  command.add_flag("--no-early-stopping", a.no_early_stopping, "search on until nothing better can come");
}

void add_weights_option(CLI::App& command, std::string& weights) {
  command.add_option("--weights", weights, "best, last, averaged (synth average) or a file")
      ->capture_default_str();
}

}  // namespace synthesizer::cli
