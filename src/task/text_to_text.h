#pragma once

#include <string>
#include <vector>

#include "task/benchmark.h"
#include "task/data_files.h"
#include "task/sequence_task.h"

namespace synthesizer {

/// GLUE, SuperGLUE, SQuAD and any table as text to text (T5): every question is a text with a prefix, every
/// answer a text, and several tasks are learnt at once, each about as often as it has examples
/// (data.mixing_cap, data.mixing_temperature). Plain text among them is learnt by span corruption.
///
/// Entry n of data.train, data.dev and data.test belongs to task n of data.tasks: a file, a pattern that
/// names several, or nothing (""), where a split has none of that task. Scores are each task's official ones,
/// and the averages of the two suites; of plain text the log perplexity of what was taken out.
class TextToTextTask : public SequenceTask {
 public:
  TextToTextTask(Recipe recipe, Tokenizers tokenizers);

  std::unique_ptr<Dataset> open(const std::vector<std::string>& paths, bool training) const override;
  Evaluation evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) override;
  std::vector<std::string> watchable() const override { return {"loss", "average"}; }

  /// Lines of files in formats of their own become a source and a target.
  static void set_converter(const Recipe& recipe, const Shards& shards, Files& files);

 protected:
  /// Scores are a task's, so evaluate() does it all.
  void score_texts(const Segments&, const References&, Evaluation&) const override {}

 private:
  /// One task's part of a split.
  std::unique_ptr<Dataset> open_part(const Benchmark& task, const std::vector<std::string>& paths,
                                     bool training) const;
  /// The answers to a task's questions in these files, scored.
  BenchmarkScores score_task(const Benchmark& task, const std::vector<std::string>& paths,
                             const DecodeOptions& decode, Evaluation& result);

  std::vector<Benchmark> tasks_;  ///< one per entry of a split
};

}  // namespace synthesizer
