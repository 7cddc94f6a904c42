#pragma once

#include <memory>
#include <vector>

#include "train/optimizer.h"
#include "train/process_group.h"

namespace synthesizer {

/// Some of the numbers of a parameter, which one process updates.
struct ParameterPiece {
  size_t parameter = 0;
  int64_t begin = 0, count = 0;  ///< among the numbers of the parameter
  int64_t rank = 0;
  bool operator==(const ParameterPiece&) const = default;
};

/// Shares as many numbers as `sizes` says (one size per parameter) out over processes, in order, as equally
/// as possible. Parameters are cut only at multiples of 64 numbers, so that vector code computes each number
/// in the same way; with `whole` they are not cut at all.
std::vector<ParameterPiece> share_out(const std::vector<int64_t>& sizes, int64_t processes, bool whole);

/// The optimizer that make_optimizer gives, divided over processes (ZeRO stage 1): each keeps the state of
/// its share of the parameters, updates that share and sends it to all others. The weights are those of the
/// undivided optimizer, bit for bit. Adam's and AdamW's parameters are cut, Adafactor's are not: the state of
/// a matrix belongs to the whole of it.
std::unique_ptr<Optimizer> make_sharded_optimizer(const TrainOptions& options, ParameterGroups parameters,
                                                  ProcessGroup& group);

}  // namespace synthesizer
