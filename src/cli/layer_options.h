#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attention/options.h"

namespace CLI {
class App;
}

namespace synthesizer::cli {

/// The options that describe one layer, as several commands take them.
struct LayerArguments {
  AttentionOptions layer;
  std::vector<std::string> extra;  ///< NAME=VALUE

  /// The layer with its extra options set. Throws InvalidInput where one is not NAME=VALUE.
  AttentionOptions resolved() const;
};

/// Adds --width, --heads, --max-length and --option to a command.
std::shared_ptr<LayerArguments> add_layer_arguments(CLI::App& command);

}  // namespace synthesizer::cli
