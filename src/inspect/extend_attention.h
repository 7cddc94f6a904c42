#pragma once

#include <memory>
#include <optional>
#include <string>

#include "task/task.h"

namespace synthesizer {

/// The same model with a mixture in place of its attention: V becomes R+V (paper, "Mixture of Synthesizers"),
/// and at first computes what it did.
///
///     S = α_V (S_V / α_V) + Σ α_n 0
///
/// What was there is divided by its share, exactly where the mixture has two or four members; each new member
/// has one factor of zeros and the others drawn, so that it adds nothing and has gradients. With the option
/// weights = "sum" nothing is divided.
///
/// `rank`: of factorized members (FR); none: as model.options says. Throws InvalidInput where a layer has
/// another attention than one member of the spec, where nothing would change, or where a new member is not
/// trained (Fix).
std::unique_ptr<Task> extend_attention(Task& task, const std::string& spec, std::optional<int64_t> rank = {});

}  // namespace synthesizer
