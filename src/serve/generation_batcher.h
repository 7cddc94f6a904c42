#pragma once

#include "model/slot_steps.h"
#include "serve/batcher.h"
#include "serve/text_slots.h"
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
  bool under_way() const override { return !texts_.empty(); }
  void fail_all(const std::exception_ptr& reason) override { texts_.fail_all(reason); }

 private:
  struct Text {
    std::shared_ptr<GenerateJob> job;
    GrowingText shown;
  };
  /// After a token was drawn: streams what is settled, and ends the text at its end or a stop.
  bool settle(Text& generated) const;

  LanguageModelTask* task_;
  std::unique_ptr<SlotSteps> steps_;
  TextSlots<Text> texts_;
};

}  // namespace synthesizer::serve
