#pragma once

#include <optional>
#include <string>

#include "decode/options.h"

namespace CLI {
class App;
}

namespace synthesizer::cli {

/// What the command line says about decoding; what it leaves out is as the run's recipe has it.
struct DecodeArguments {
  std::optional<int64_t> beam, min_length, max_length, no_repeat_ngram;
  std::optional<double> length_penalty;
  std::optional<std::string> length_normalization;
  bool no_early_stopping = false;

  DecodeOptions over(DecodeOptions of_the_recipe) const;
};
void add_decode_options(CLI::App& command, DecodeArguments& arguments);

/// --weights best, last, averaged, or a file.
void add_weights_option(CLI::App& command, std::string& weights);

}  // namespace synthesizer::cli
