#pragma once

#include <stdexcept>

#include "compare/member.h"

namespace synthesizer {

/// A training that ended badly, and has said why.
struct TrainingFailed : std::runtime_error {
  explicit TrainingFailed(int its_status) : std::runtime_error("a training has failed"), status(its_status) {}
  int status;  ///< of the process
};

/// Trains the members one after the other, skips those that are finished, and takes up those that were
/// interrupted. Each trains in a process of its own, so that its memory is its own and none inherits the
/// threads or the heap of the one before; hence this must run before anything uses LibTorch's threads.
/// Throws TrainingFailed when one of them fails; the others before it stay.
void train_members(const std::string& recipe, const std::vector<Member>& members);

}  // namespace synthesizer
