#pragma once

namespace synthesizer {

/// A step, of training or of decoding, frees and takes the same large blocks again and again: kept, they need
/// not be cleared by the system each time, and they are given out so that one serves the next request of its
/// size. For the rest of the program.
void keep_freed_memory();

/// What this process holds, code of libraries included.
double memory_bytes();
/// The most that this process has held at any time.
double peak_memory_bytes();

}  // namespace synthesizer
