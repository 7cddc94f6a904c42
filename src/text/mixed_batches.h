#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "text/batches.h"

namespace synthesizer {

/// One of several corpora that are learnt together.
struct MixedPart {
  std::unique_ptr<Batches> batches;
  int64_t examples = 0;  ///< in an epoch of its own
};

/// How often each of several corpora is seen: in proportion to min(examples, cap)^(1/temperature), the rates
/// of T5 (Raffel et al. 2020, section 3.5.2). Temperature 1 is examples-proportional mixing; a high one
/// approaches equal rates.
struct MixingRates {
  int64_t cap = 0;         ///< T5's K; 0: none
  double temperature = 1;  ///< at least 1
};

/// Several corpora in one run, seen at these rates. A batch holds examples of one corpus.
///
/// An epoch has Σ min(examples, cap) examples, divided by the rates, in an order drawn anew every time; a
/// part goes on in the next epoch where it stopped, so that all its examples are seen in turn.
class MixedBatches : public Batches {
 public:
  MixedBatches(std::vector<MixedPart> parts, MixingRates rates, uint64_t seed);

  int64_t per_epoch() const override { return static_cast<int64_t>(schedule_.size()); }
  Batch make(int64_t sequence) const override;
  std::string describe(const Batch& batch) const override;

  /// Which part batch `sequence` is of.
  size_t part_of(int64_t sequence) const;

 private:
  struct Turn {
    size_t part;
    int64_t number;  ///< among those of the part in this epoch
  };
  struct Epoch {
    int64_t number;
    std::vector<int64_t> order;
  };
  Turn turn(int64_t sequence) const;
  std::shared_ptr<const Epoch> epoch(int64_t number) const;

  std::vector<MixedPart> parts_;
  std::vector<int64_t> taken_;  ///< batches of each part in an epoch
  std::vector<Turn> schedule_;  ///< all turns of an epoch, part after part
  uint64_t seed_;

  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Epoch> epoch_;  // the one asked for last
};

}  // namespace synthesizer
