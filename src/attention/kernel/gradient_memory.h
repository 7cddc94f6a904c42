#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer::kernel {

/// Room for a gradient, contiguous float32 on the CPU. That of a table is large (134 MB for 8 heads at length
/// 2,048) and comes anew with every step: half of its time went into pages that the system found and cleared
/// for it. So from 8 MB on gradients lie on huge pages, in blocks that the next ones get again. A block that
/// nobody has wanted for some seconds goes back to the system with the next call. Thread-safe. Throws
/// std::bad_alloc.
at::Tensor gradient_memory(at::IntArrayRef sizes);

}  // namespace synthesizer::kernel
