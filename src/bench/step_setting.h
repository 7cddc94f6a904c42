#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "model/options.h"
#include "train/options.h"
#include "train/step.h"

namespace synthesizer::bench {

/// A model of known size and the shape of what it is fed with: what a training step is timed on.
struct StepSetting {
  std::string name, task;  ///< the task decides over family and loss
  std::string about;
  int64_t vocabulary, batch, length;
  int64_t classes;  ///< of a classification
  ModelOptions model;
  TrainOptions train;
};

/// "demo", "translation", "encoder".
const std::vector<StepSetting>& step_settings();
/// Throws InvalidInput where there is none of that name.
const StepSetting& find_step_setting(const std::string& name);

/// A model with tokens drawn for it, ready to be trained on them over and over.
class StepBenchmark {
 public:
  using Tokens = std::vector<std::pair<std::string, at::Tensor>>;

  /// `group`: processes that add up their gradients; each is fed with the same tokens.
  StepBenchmark(const StepSetting& setting, const std::string& attention, ProcessGroup* group = nullptr);

  const torch::nn::Module& model() const { return *model_; }
  const Tokens& tokens() const { return tokens_; }  ///< "source", "target", "labels"
  /// One step as `synth train` takes it, with dropout or without.
  StepSums step(bool dropout);
  /// Adds up as many numbers as there are gradients, over all processes and nothing else; gives their bytes.
  int64_t exchange();

 private:
  std::shared_ptr<torch::nn::Module> model_;
  Tokens tokens_;
  ProcessGroup* group_;
  std::unique_ptr<Stepper> stepper_;
  int64_t steps_ = 0;
};

}  // namespace synthesizer::bench
