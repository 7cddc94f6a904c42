#pragma once

#include <string_view>
#include <vector>

#include "metric/metric.h"

namespace synthesizer {

/// Every metric that compares texts. `synth score`, its help and the tests read this list.
const std::vector<Metric>& metrics();

/// By name, letter case aside; an unknown one is an error that suggests the nearest.
const Metric& find_metric(std::string_view name);

}  // namespace synthesizer
