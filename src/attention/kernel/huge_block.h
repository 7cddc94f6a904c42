#pragma once

#include <cstddef>

namespace synthesizer::kernel {

/// Memory of its own from the system, on pages of 2 MB where there are such, so that few of them have to be
/// found and cleared. What is never written to takes no memory. Throws std::bad_alloc.
class HugeBlock {
 public:
  explicit HugeBlock(size_t size);
  ~HugeBlock();
  HugeBlock(const HugeBlock&) = delete;
  HugeBlock& operator=(const HugeBlock&) = delete;

  std::byte* begin() const { return begin_; }
  size_t size() const { return size_; }

 private:
  void* mapped_;
  size_t mapped_size_, size_;
  std::byte* begin_;
};

}  // namespace synthesizer::kernel
