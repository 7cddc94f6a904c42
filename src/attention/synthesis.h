#pragma once

#include <cstdint>
#include <vector>

#include "attention/logits.h"
#include "attention/options.h"
#include "attention/packed_rows.h"
#include "attention/parameter.h"

namespace synthesizer {

/// Rows [begin, begin + rows) of S against columns [0, columns): the whole sequence in training,
/// one row at a time in decoding. The numbers are symbols while torch.compile or torch.export traces a layer
/// for any length: pass them on to ATen's *_symint functions.
struct RowRange {
  c10::SymInt begin = 0;
  c10::SymInt rows = 0;
  c10::SymInt columns = 0;
  const PackedRows* packed = nullptr;  ///< where x is N×D: how its rows lie in the batch
};

/// A synthesizing function: computes the logits. Value projection, masks, softmax, dropout, caches and heads
/// are implemented once, in MultiHeadAttention and the kernel.
///
/// It holds no tensors: it declares those it needs, and is handed them with every call.
class Synthesis {
 public:
  virtual ~Synthesis() = default;

  virtual std::vector<Parameter> parameters() const = 0;

  /// Logits of the range for its rows' tokens x, B×rows×D, or N×D where the range is packed. Keys, where
  /// there are any, are those of the same tokens; in decoding MultiHeadAttention puts the cached ones before
  /// them.
  virtual Logits logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const = 0;

  /// Whether the bits of each row of what logits() returns are the same whatever other rows x has, in a
  /// prepared layer: rows come from projections and element-wise work alone, or from no token.
  virtual bool rows_are_independent() const { return false; }

  /// Before a layer grows to a larger max_length, with old entries kept as the corner of the new tensors:
  /// sets the options under which they keep their meaning, or throws InvalidInput where there are none.
  virtual void prepare_growth(AttentionOptions& larger) const {}

  /// Multiply-adds of all products that form S for one sequence of that length, all heads.
  virtual int64_t macs(int64_t length) const = 0;
};

}  // namespace synthesizer
