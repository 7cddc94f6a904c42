#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

namespace synthesizer {

/// Tells whether a tensor still holds the numbers it held when this was made: by its memory, its place there
/// and its version counter. Some ways to write go around the counter (`.data`, fused optimizers). Not for
/// inference tensors, which have none.
class Stamp {
 public:
  explicit Stamp(const at::Tensor& t)
      : memory_(t.storage()), offset_(t.storage_offset()), version_(t._version()) {}

  bool fits(const at::Tensor& t) const {
    return memory_.is_alias_of(t.storage()) && offset_ == t.storage_offset() && version_ == t._version();
  }

 private:
  c10::Storage memory_;  ///< held, so that its address is not given to another
  int64_t offset_, version_;
};

}  // namespace synthesizer
