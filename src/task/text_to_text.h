#pragma once

#include <string>
#include <vector>

#include "task/benchmark.h"
#include "task/sequence_task.h"

namespace synthesizer {

/// GLUE, SuperGLUE and any table as text to text (T5): every question is a text with a prefix, every answer a
/// text, and several tasks are learnt at once, each about as often as it has examples (data.mixing_cap).
///
/// File n of data.train, data.dev and data.test belongs to task n of data.tasks. Scores are each task's
/// official ones, and the averages of the two suites.
class TextToTextTask : public SequenceTask {
 public:
  TextToTextTask(Recipe recipe, Tokenizers tokenizers);

  std::unique_ptr<Dataset> open(const std::vector<std::string>& paths, bool training) const override;
  Evaluation evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) override;
  std::vector<std::string> watchable() const override { return {"loss", "average"}; }

  /// Lines of files in formats of their own become a source and a target.
  static void set_converter(const Recipe& recipe, Files& files);

 protected:
  /// Scores are a task's, so evaluate() does it all.
  void score_texts(const Segments&, const References&, Evaluation&) const override {}

 private:
  std::vector<Benchmark> tasks_;  ///< one per file of a split
};

}  // namespace synthesizer
