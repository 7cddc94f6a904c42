#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <mutex>
#include <vector>

#include "attention/stamp.h"

namespace synthesizer {

/// Weights that depend on no token are the same in every call of a model that is not being trained: this
/// keeps them, for as long as the parameters they were made from stay as they are: the same tensors with the
/// same stamps. As some ways to write go unseen by those (stamp.h), the frame also drops everything when a
/// call wants gradients, and the modules do when train() or eval() is said; whoever writes in between says
/// `forget()`.
class WeightCache {
 public:
  struct Entry {
    at::Tensor weights;  ///< H×L×L, float32
    at::Tensor table;    ///< H×L×L, the logits they were made from
  };

  /// The entry for that length, made by `make(length to make it for)` where there is none to use. A causal
  /// entry serves all shorter lengths (bit for bit, but for the rounding of a table that is itself a
  /// product); another serves its own length only.
  Entry get(const std::vector<at::Tensor>& parameters, int64_t length, int64_t max_length, bool causal,
            const std::function<Entry(int64_t)>& make);
  void clear();

 private:
  struct Source {
    at::Tensor tensor;  ///< held, so that its address is not given to another
    Stamp stamp;
  };
  bool fresh(const std::vector<at::Tensor>& parameters) const;

  std::mutex mutex_;
  std::vector<Source> sources_;
  Entry entry_;
  int64_t length_ = -1;
};

}  // namespace synthesizer
