#include "run/parameter_count.h"

#include "base/parameter_names.h"

namespace synthesizer {

ParameterCount count_parameters(const TensorHeader& weights) {
  ParameterCount count;
  for (const TensorEntry& entry : weights.tensors) {
    if (is_saved_fixed_table(entry.name)) continue;
    int64_t numbers = 1;
    for (const int64_t size : entry.shape) numbers *= size;
    count.total += numbers;
    if (is_saved_synthesis_parameter(entry.name)) count.synthesis += numbers;
  }
  return count;
}

}  // namespace synthesizer
