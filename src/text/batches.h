#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/batch.h"
#include "text/token_store.h"

namespace synthesizer {

/// Where batches come from. A batch is a pure function of its number: batch n of a run is the same whoever
/// asks and whenever, so a position is one number, and several processes share the work by taking numbers in
/// turn.
class Batches {
 public:
  virtual ~Batches() = default;

  /// The same for every epoch; epoch e has the numbers from e · per_epoch() on.
  virtual int64_t per_epoch() const = 0;
  /// Any number from 0; may be called from any thread.
  virtual Batch make(int64_t sequence) const = 0;
  /// Where its examples come from, for messages: "train.en:3, 17, 20 and 12 more".
  virtual std::string describe(const Batch& batch) const = 0;
};

std::string describe_examples(const TokenStore& store, const std::vector<int64_t>& examples);

}  // namespace synthesizer
