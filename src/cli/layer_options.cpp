#include "cli/layer_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"

namespace synthesizer::cli {

AttentionOptions LayerArguments::resolved() const {
  AttentionOptions all = layer;
  for (const std::string& word : extra) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      invalid(fmt::format("--option {}: write NAME=VALUE, as in --option rank=16", word));
    }
    all.options.parse(word.substr(0, equals), word.substr(equals + 1));
  }
  return all;
}

std::shared_ptr<LayerArguments> add_layer_arguments(CLI::App& command) {
  auto arguments = std::make_shared<LayerArguments>();
  AttentionOptions& layer = arguments->layer;
  command.add_option("--width", layer.width, "model width")->capture_default_str();
  command.add_option("--heads", layer.heads, "number of heads")->capture_default_str();
  command.add_option("--max-length", layer.max_length, "maximum length of the layer")->capture_default_str();
  command
      .add_option("--option", arguments->extra,
                  "option of the attention variant, such as rank=16 (see synth variants)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  return arguments;
}

}  // namespace synthesizer::cli
