#pragma once

#include <deque>

#include "decode/greedy_sentence.h"
#include "model/slot_steps.h"
#include "serve/batcher.h"
#include "serve/text_slots.h"
#include "task/sequence_task.h"

namespace synthesizer::serve {

/// Translation and its kin. Greedy search is batched continuously: a sentence joins at the next step and
/// leaves when it is done. Where more sentences wait than there is place for, some are encoded ahead,
/// together with one that joins: the encoder is faster with several. Beam search is batched by length:
/// sentences with the same options whose lengths are similar are searched together, the oldest first.
///
/// A result has exactly the bits of `synth translate` for the line alone. Beams of 8 and more are therefore
/// searched one sentence at a time: how their attention to the source is computed depends on the batch.
class TranslationBatcher : public Batcher {
 public:
  TranslationBatcher(SequenceTask& task, int64_t batch, Metrics& metrics);

 protected:
  void choose() override;
  void work() override;
  bool under_way() const override { return !sentences_.empty(); }
  void fail_all(const std::exception_ptr& reason) override;

 private:
  using TranslatePtr = std::shared_ptr<TranslateJob>;
  struct Sentence {
    TranslatePtr job;
    GreedySentence search;
    GrowingText shown;
    bool decoding = false;  ///< false: encoded, and waiting for a place
  };

  void choose_beam(const std::vector<TranslatePtr>& candidates);
  void search_beams();
  void encode_sentences();
  void start_decoding();
  void step_sentences();
  void finish(Sentence& sentence);

  SequenceTask* task_;
  std::unique_ptr<SlotSteps> steps_;  ///< made with the first greedy job
  TextSlots<Sentence> sentences_;     ///< of greedy search
  std::deque<int64_t> encoded_;       ///< slots of those that wait for a place, the oldest first
  std::vector<TranslatePtr> beginning_, beams_;
};

}  // namespace synthesizer::serve
