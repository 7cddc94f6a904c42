#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <new>

namespace synthesizer::kernel {

using AlignedFloats = hwy::AlignedFreeUniquePtr<float[]>;

/// Memory for vector code. Throws std::bad_alloc; Highway gives a null pointer.
inline AlignedFloats aligned_floats(size_t count) {
  AlignedFloats memory = hwy::AllocateAligned<float>(count);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace synthesizer::kernel
