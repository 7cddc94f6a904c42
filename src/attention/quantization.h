#pragma once

#include "attention/matrix_form.h"
#include "base/choice.h"

namespace synthesizer {

inline Choices choices(Quantization) {
  static constexpr ChoiceName names[] = {{"int8", "a quarter of the memory"}, {"bfloat16", "half of it"}};
  return names;
}

}  // namespace synthesizer
