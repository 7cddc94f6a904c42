#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/batches.h"

namespace synthesizer {

/// One of several corpora that are learnt together.
struct MixedPart {
  std::unique_ptr<Batches> batches;
  int64_t examples = 0;  ///< in an epoch of its own
};

/// Several corpora in one run, each as often as it has examples, but none more often than if it had `cap` of
/// them (T5's examples-proportional mixing; 0: no cap). A batch holds examples of one corpus.
///
/// An epoch has of each part the share min(examples, cap) / examples of its batches, in an order drawn anew
/// every time; a part goes on in the next epoch where it stopped, so that all its examples are seen in turn.
class MixedBatches : public Batches {
 public:
  MixedBatches(std::vector<MixedPart> parts, int64_t cap, uint64_t seed);

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
  Turn turn(int64_t sequence) const;

  std::vector<MixedPart> parts_;
  std::vector<int64_t> taken_;  ///< batches of each part in an epoch
  std::vector<Turn> schedule_;  ///< all turns of an epoch, part after part
  uint64_t seed_;
};

}  // namespace synthesizer
