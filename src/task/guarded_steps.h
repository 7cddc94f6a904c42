#pragma once

#include "model/step_model.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// A model's steps as texts are made with: a token that no text should be made with, such as the one for
/// unknown text, is never chosen, and the work can be interrupted (runtime/interrupt.h). The model must
/// outlive it.
class GuardedSteps : public StepModel {
 public:
  /// `forbidden`: Tokenizer::forbidden(); -1: there is none.
  GuardedSteps(StepModel& steps, Token forbidden) : steps_(steps), forbidden_(forbidden) {}

  int64_t rows() const override { return steps_.rows(); }
  int64_t max_length() const override { return steps_.max_length(); }
  int64_t forbidden() const override { return forbidden_; }
  at::Tensor step(const at::Tensor& tokens) override;
  void reorder(const at::Tensor& indices) override { steps_.reorder(indices); }

 private:
  StepModel& steps_;
  Token forbidden_;
};

}  // namespace synthesizer
