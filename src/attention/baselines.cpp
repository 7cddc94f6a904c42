#include "attention/baselines.h"

#include <fmt/format.h>

#include <charconv>

#include "attention/convolution.h"
#include "attention/linformer.h"
#include "attention/string_util.h"
#include "base/error.h"

namespace synthesizer {
namespace {

template <class T>
std::unique_ptr<Mixer> make_baseline(AttentionOptions options) {
  return std::make_unique<T>(std::move(options));
}

}  // namespace

const std::vector<Baseline>& baselines() {
  static const std::vector<Baseline> list = {
      {"light-conv", "lightweight convolution: one kernel per group for all positions (Wu et al. 2019)", true,
       "gw", "kernel", Convolution::accepted_options(), make_baseline<LightConvolution>},
      {"dynamic-conv", "dynamic convolution: kernels computed from each position's token (Wu et al. 2019)",
       true, "dgw", "kernel", Convolution::accepted_options(), make_baseline<DynamicConvolution>},
      {"linformer", "attention to k projections of all positions (Wang et al. 2020)", false, "2d² + 2kN",
       "rank", Linformer::accepted_options(), make_baseline<Linformer>},
  };
  return list;
}

std::string NamedBaseline::spec() const {
  return size ? fmt::format("{}:{}", baseline->name, *size) : baseline->name;
}

std::optional<NamedBaseline> find_baseline(std::string_view spec) {
  if (spec.find('+') != std::string_view::npos) return {};  // a mixture, whoever its members are
  const size_t colon = spec.find(':');
  const std::string name = lower(trimmed(spec.substr(0, colon)));
  for (const Baseline& baseline : baselines()) {
    if (name != baseline.name) continue;
    if (colon == std::string_view::npos) return NamedBaseline{&baseline, {}};
    const std::string_view text = trimmed(spec.substr(colon + 1));
    int64_t size = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), size);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
      invalid(
          fmt::format("attention '{}': the part after the colon must be its {}, a whole number, as in {}:16",
                      spec, baseline.size, baseline.name));
    }
    return NamedBaseline{&baseline, size};
  }
  return {};
}

}  // namespace synthesizer
