#pragma once

#include "task/data_files.h"
#include "task/sequence_task.h"

namespace synthesizer {

/// Dialogue: who speaks (persona), what was said (history, turns parted by " <t> "), and the reply. The model
/// reads the last turns and the persona and writes the reply; scores are those of the paper's table.
class DialogueTask : public SequenceTask {
 public:
  DialogueTask(Recipe recipe, Tokenizers tokenizers)
      : SequenceTask(std::move(recipe), std::move(tokenizers)) {}
  std::unique_ptr<Dataset> open(const std::vector<std::string>& paths, bool training) const override;
  std::vector<std::string> watchable() const override {
    return {"loss", "bleu1", "bleu4", "rougeL", "meteor", "cider"};
  }

  /// Persona, history and reply become a source and a target.
  static void set_converter(const Recipe& recipe, const Shards& shards, Files& files);

 protected:
  void score_texts(const Segments& written, const References& references, Evaluation& result) const override;
  /// "PERSONA<tab>HISTORY", or the history alone.
  std::string source_of(const std::string& line) const override;
};

}  // namespace synthesizer
