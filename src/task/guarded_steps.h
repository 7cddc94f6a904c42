#pragma once

#include "model/step_model.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// A model's steps as texts are made with: the token for unknown text is never chosen, since nobody can read
/// it, and the work can be interrupted (runtime/interrupt.h). The model must outlive it.
class GuardedSteps : public StepModel {
 public:
  /// `unknown`: Tokenizer::unknown(); -1: there is none.
  GuardedSteps(StepModel& steps, Token unknown) : steps_(steps), unknown_(unknown) {}

  int64_t rows() const override { return steps_.rows(); }
  int64_t max_length() const override { return steps_.max_length(); }
  int64_t forbidden() const override { return unknown_; }
  at::Tensor step(const at::Tensor& tokens) override;
  void reorder(const at::Tensor& indices) override { steps_.reorder(indices); }

 private:
  StepModel& steps_;
  Token unknown_;
};

}  // namespace synthesizer
