#pragma once

#include "model/classifier.h"
#include "task/data_files.h"
#include "task/task.h"

namespace synthesizer {

/// Classification: a label and a text per line, an encoder, accuracy and F1. Classes are those of the
/// training text (data.labels).
class ClassificationTask : public Task, public TextClassifier {
 public:
  ClassificationTask(Recipe recipe, Tokenizers tokenizers);

  torch::nn::Module& model() override { return *model_; }
  std::unique_ptr<Dataset> open(const std::vector<std::string>& paths, bool training) const override;
  LossSum loss(const Batch& batch) override;
  Evaluation evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) override;
  /// Of (text, label): how likely that label is.
  std::vector<double> log_probabilities(const std::vector<std::vector<std::string>>& examples) override;
  Batch batch_of(const std::vector<std::string>& fields) const override;
  std::vector<SideInput> inputs_of(const Batch& batch) const override;
  std::vector<std::string> watchable() const override { return {"loss", "accuracy", "macro_f1"}; }
  std::string unit() const override { return "ex"; }

  const std::vector<std::string>& labels() const override { return recipe().data.labels; }
  std::vector<ClassificationResult> classify(const std::vector<std::string>& lines, int64_t batch_tokens,
                                             LongLine too_long, int64_t first_line,
                                             std::vector<std::string>& remarks) override;

  /// Checks labels as they are read, and joins further columns to the text.
  static void set_converter(const Recipe& recipe, const Shards& shards, Files& files);
  /// Fills in data.labels from the training text where the recipe leaves them out.
  static void complete(Recipe& recipe);

 private:
  int64_t max_text() const;  ///< tokens of the text itself
  size_t label_number(const std::string& label) const;
  std::vector<int64_t> with_special_tokens(const Tokens& tokens) const;
  std::vector<ClassificationResult> classify(const Field& texts);  ///< one per row
  /// The label of every line, and the sum of the losses in `nll`.
  Outputs label_all(const Dataset& data, double& nll);

  std::shared_ptr<Classifier> model_;
};

}  // namespace synthesizer
