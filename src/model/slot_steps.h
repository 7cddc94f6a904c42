#pragma once

#include <vector>

#include "model/embedding.h"
#include "model/output.h"
#include "model/stack.h"

namespace synthesizer {

/// Decoding of texts that begin and end at different times, one per slot: a step advances any of the slots by
/// one token each (continuous batching). What a slot gives has exactly the bits of the same text alone
/// (StepModel), whatever the other slots do. One thread at a time; several SlotSteps may share one prepared
/// model, which must outlive them.
class SlotSteps {
 public:
  SlotSteps(const Embedding& embedding, const Stack& decoder, const Output& output, int64_t slots)
      : embedding_(&embedding),
        decoder_(&decoder),
        output_(&output),
        state_(decoder.start_slots(slots)),
        positions_(static_cast<size_t>(slots), 0) {}

  int64_t slots() const { return static_cast<int64_t>(positions_.size()); }
  int64_t max_length() const { return decoder_->layers().front()->attention()->options().max_length; }
  /// How many tokens the slot's text has had.
  int64_t position(int64_t slot) const { return positions_[static_cast<size_t>(slot)]; }

  /// The slot begins another text at position 0. What it held is no longer used.
  void begin(int64_t slot) { positions_[static_cast<size_t>(slot)] = 0; }
  /// The same where there is an encoder: slot slots[n] decodes against row n of its output (B×M×D), of which
  /// lengths[n] count.
  void begin(const std::vector<int64_t>& slots, const at::Tensor& encoded,
             const std::vector<int64_t>& lengths);

  /// Feeds tokens[n] to slot slots[n], each slot at most once. Returns the logits after those of them that
  /// `wanted` names by their place, in its order: wanted×V, float32.
  at::Tensor step(const std::vector<int64_t>& slots, const std::vector<int64_t>& tokens,
                  const std::vector<int64_t>& wanted);

 private:
  const Embedding* embedding_;
  const Stack* decoder_;
  const Output* output_;
  StackSlots state_;
  std::vector<int64_t> positions_;
};

}  // namespace synthesizer
