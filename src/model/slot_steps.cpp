#include "model/slot_steps.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace synthesizer {

void SlotSteps::begin(const std::vector<int64_t>& slots, const at::Tensor& encoded,
                      const std::vector<int64_t>& lengths) {
  for (const int64_t slot : slots) begin(slot);
  state_.remember(slots, encoded, lengths);
}

at::Tensor SlotSteps::step(const std::vector<int64_t>& slots, const std::vector<int64_t>& tokens,
                           const std::vector<int64_t>& wanted) {
  c10::NoGradGuard no_grad;
  SlotRows rows{slots, {}};
  for (const int64_t slot : slots) rows.positions.push_back(position(slot));
  const auto fed = at::tensor(at::ArrayRef<int64_t>(tokens), at::kLong);
  auto hidden = decoder_->step_slots(embedding_->forward(fed), state_, rows);
  for (const int64_t slot : slots) ++positions_[static_cast<size_t>(slot)];
  if (wanted.size() != slots.size())
    hidden = hidden.index_select(0, at::tensor(at::ArrayRef<int64_t>(wanted), at::kLong));
  return output_->logits(hidden);
}

}  // namespace synthesizer
