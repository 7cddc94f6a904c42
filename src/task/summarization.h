#pragma once

#include "task/sequence_task.h"

namespace synthesizer {

/// Summarization: a text and what it says in short (" <n> " parts sentences), ROUGE. Rows that follow each
/// other with the same source are one text with several references.
class SummarizationTask : public SequenceTask {
 public:
  SummarizationTask(Recipe recipe, Tokenizers tokenizers)
      : SequenceTask(std::move(recipe), std::move(tokenizers)) {}
  std::vector<std::string> watchable() const override {
    return {"loss", "rouge1", "rouge2", "rougeL", "rougeLsum"};
  }

 protected:
  void score_texts(const Segments& written, const References& references, Evaluation& result) const override;
  bool groups_references() const override { return true; }
};

}  // namespace synthesizer
