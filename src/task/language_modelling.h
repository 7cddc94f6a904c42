#pragma once

#include "model/language_model.h"
#include "task/task.h"

namespace synthesizer {

/// Language modelling: plain text, a decoder alone, perplexity, text that goes on from a prompt. The text is
/// one stream cut into windows (data.sequence = "stream"), or a line is a sequence of its own ("lines").
class LanguageModelTask : public Task, public Generator {
 public:
  LanguageModelTask(Recipe recipe, Tokenizers tokenizers);

  torch::nn::Module& model() override { return *model_; }
  std::unique_ptr<Dataset> open(const std::vector<std::string>& paths, bool training) const override;
  LossSum loss(const Batch& batch) override;
  Evaluation evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) override;
  std::vector<double> log_probabilities(const std::vector<std::vector<std::string>>& examples) override;
  Batch batch_of(const std::vector<std::string>& fields) const override;
  std::vector<SideInput> inputs_of(const Batch& batch) const override;
  std::string generate(const std::string& prompt, int64_t tokens, const DecodeOptions& options,
                       const std::function<void(const std::string&)>& on_text) override;

  // The parts of generate(), for a server that shares steps among many texts; threads may share the task.
  std::vector<int64_t> prompt_row(const std::string& prompt) const;  ///< tokens, the begin included
  int64_t end_token() const;                                         ///< -1: texts have no end
  std::string text_of(const std::vector<int64_t>& drawn) const;
  const LanguageModel& language_model() const { return *model_; }

 private:
  bool stream() const { return recipe().data.sequence == SequenceKind::stream; }
  int64_t window() const;

  std::shared_ptr<LanguageModel> model_;
};

}  // namespace synthesizer
