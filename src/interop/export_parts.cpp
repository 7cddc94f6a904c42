#include "interop/export_parts.h"

#include <fmt/format.h>

#include "attention/spec.h"
#include "base/error.h"

namespace synthesizer {

void check_vanilla_layers(const ModelOptions& model, const std::vector<Side>& sides, const char* program) {
  for (const Side side : sides) {
    for (const std::string& spec : attention_of_layers(model, side)) {
      if (short_spec(std::string_view(spec)) != "V")
        invalid(fmt::format("this run has layers with {}, and {} has V alone", spec, program));
    }
  }
}

}  // namespace synthesizer
