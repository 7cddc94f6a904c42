#pragma once

#include "task/sequence_task.h"

namespace synthesizer {

/// T5's masked-language-model pre-training: plain text packed into windows, spans of it taken out and to be
/// said again (text/span_corruption.h). Scores: log perplexity and the share of tokens that were right.
class SpanCorruptionTask : public SequenceTask {
 public:
  SpanCorruptionTask(Recipe recipe, Tokenizers tokenizers);
  std::unique_ptr<Dataset> open(const std::vector<std::string>& paths, bool training) const override;
  Evaluation evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) override;

 protected:
  /// What a model fills in is measured token by token, not as text.
  void score_texts(const Segments&, const References&, Evaluation&) const override {}
};

}  // namespace synthesizer
