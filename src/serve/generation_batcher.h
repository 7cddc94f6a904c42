#pragma once

#include <optional>

#include "model/slot_steps.h"
#include "serve/batcher.h"
#include "task/language_modelling.h"

namespace synthesizer::serve {

/// Language models. Sampling is batched continuously: a text joins at the next step and leaves when it is
/// done. A result is that of `synth generate` with the same prompt, options and seed.
class GenerationBatcher : public Batcher {
 public:
  GenerationBatcher(LanguageModelTask& task, int64_t batch, Metrics& metrics);

 protected:
  void choose() override;
  void work() override;
  bool under_way() const override { return active_ > 0; }
  void fail_all(const std::exception_ptr& reason) override;

 private:
  /// A text in its slot.
  struct Row {
    std::shared_ptr<GenerateJob> job;
    GrowingText shown;
  };
  /// After a token was drawn: streams what is settled, and ends the text at its end or a stop.
  bool settle(Row& row) const;

  LanguageModelTask* task_;
  std::unique_ptr<SlotSteps> steps_;
  std::vector<std::optional<Row>> rows_;  ///< one per slot
  size_t active_ = 0;
};

}  // namespace synthesizer::serve
