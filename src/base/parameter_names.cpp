#include "base/parameter_names.h"

#include <algorithm>
#include <iterator>

namespace synthesizer {
namespace {

/// light-conv and dynamic-conv: the kernel; linformer: queries, keys and the projections along the length.
constexpr std::string_view kSynthesisPrefixes[] = {kLogitsPrefix, "kernel.", "query.", "key.", "project."};
constexpr std::string_view kLayerName = ".attention.";

}  // namespace

bool is_synthesis_parameter(std::string_view name) {
  return std::any_of(std::begin(kSynthesisPrefixes), std::end(kSynthesisPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_saved_synthesis_parameter(std::string_view name) {
  const size_t layer = name.find(kLayerName);
  return layer != name.npos && is_synthesis_parameter(name.substr(layer + kLayerName.size()));
}

bool is_saved_fixed_table(std::string_view name) {
  return name.ends_with(".logits.Fix.table");
}

}  // namespace synthesizer
