#pragma once

#include "task/sequence_task.h"

namespace synthesizer {

/// Translation: pairs of lines; BLEU, chrF and exact matches, as data.metrics says.
class TranslationTask : public SequenceTask {
 public:
  TranslationTask(Recipe recipe, Tokenizers tokenizers)
      : SequenceTask(std::move(recipe), std::move(tokenizers)) {}
  std::vector<std::string> watchable() const override;

 protected:
  void score_texts(const Segments& written, const References& references, Evaluation& result) const override;
};

}  // namespace synthesizer
