#pragma once

#include <functional>
#include <string>
#include <vector>

#include "decode/options.h"

namespace CLI {
class App;
}

namespace synthesizer::cli {

/// What the command line says about decoding; what it leaves out is as it was.
class DecodeArguments {
 public:
  /// Adds the options of that use. `defaults`: whether the help shows them, for those that no recipe has. To
  /// be called once the arguments have their final place.
  void add_to(CLI::App& command, DecodeOption::Use use, bool defaults = false);

  /// Throws InvalidInput where a value is out of its range.
  DecodeOptions over(DecodeOptions options) const;

 private:
  std::vector<std::function<void(DecodeOptions&)>> given_;
};

/// --weights best, last, averaged, or a file.
void add_weights_option(CLI::App& command, std::string& weights);

}  // namespace synthesizer::cli
