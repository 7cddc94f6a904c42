#pragma once

#include <string>

#include "metric/bleu.h"
#include "metric/text_cases.h"

namespace synthesizer::testing {

/// BLEU of the text case of that name.
inline Bleu bleu_of(const std::string& name, const BleuOptions& options = {}) {
  const TextCase& texts = text_case(name);
  return bleu(texts.hypotheses, texts.references, options);
}

}  // namespace synthesizer::testing
