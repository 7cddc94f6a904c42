#pragma once

#include "attention/attention.h"
#include "attention/registry.h"

namespace synthesizer {

/// The members of a layer whose logits depend on no token; none for a baseline.
std::vector<const Variant*> global_members(const AttentionOptions& options);

/// The whole table of such a member, H×N×N, as its own logits give it.
at::Tensor member_table(const AttentionImpl& attention, const Variant& member);

}  // namespace synthesizer
