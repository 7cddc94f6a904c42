#include "text/mixed_batches.h"

#include <algorithm>
#include <cmath>

#include "text/permutation.h"

namespace synthesizer {

MixedBatches::MixedBatches(std::vector<MixedPart> parts, MixingRates rates, uint64_t seed)
    : parts_(std::move(parts)), seed_(seed) {
  std::vector<double> weights;
  double counted = 0, sum = 0;
  for (const MixedPart& part : parts_) {
    const auto limited =
        static_cast<double>(rates.cap > 0 ? std::min(part.examples, rates.cap) : part.examples);
    weights.push_back(std::pow(limited, 1 / rates.temperature));
    counted += limited;
    sum += weights.back();
  }
  for (size_t part = 0; part < parts_.size(); ++part) {
    // Of its examples; over 1 where a high temperature repeats a small one.
    const double share = weights[part] * (counted / sum) / static_cast<double>(parts_[part].examples);
    const auto all = static_cast<double>(parts_[part].batches->per_epoch());
    taken_.push_back(std::max<int64_t>(1, std::llround(all * share)));
    for (int64_t number = 0; number < taken_.back(); ++number) schedule_.push_back({part, number});
  }
}

std::shared_ptr<const MixedBatches::Epoch> MixedBatches::epoch(int64_t number) const {
  std::lock_guard lock(mutex_);
  if (!epoch_ || epoch_->number != number) {
    const uint64_t seed = combine_seeds(seed_, static_cast<uint64_t>(number));
    epoch_ = std::make_shared<const Epoch>(Epoch{number, permutation(per_epoch(), seed)});
  }
  return epoch_;
}

MixedBatches::Turn MixedBatches::turn(int64_t sequence) const {
  const auto now = epoch(sequence / per_epoch());
  const auto place = static_cast<size_t>(sequence % per_epoch());
  Turn turn = schedule_[static_cast<size_t>(now->order[place])];
  turn.number += now->number * taken_[turn.part];
  return turn;
}

size_t MixedBatches::part_of(int64_t sequence) const {
  return turn(sequence).part;
}

Batch MixedBatches::make(int64_t sequence) const {
  const Turn now = turn(sequence);
  Batch batch = parts_[now.part].batches->make(now.number);
  batch.sequence = sequence;
  return batch;
}

std::string MixedBatches::describe(const Batch& batch) const {
  return parts_[turn(batch.sequence).part].batches->describe(batch);
}

}  // namespace synthesizer
