#pragma once

#include <cstdint>

namespace synthesizer::kernel {

/// The counter-based generator behind dropout: the bits of entry (i, j) of head m of sample b are a function
/// of the seed and of b, m, i, j alone. Whoever asks gets the same ones, in any order, from any thread.
///
/// A 64-bit key is made for each row; entry j mixes both halves of it with j. The mixing is the "lowbias32"
/// integer hash; the vector code of tile_softmax.cpp and the tensor code of plain.cpp do the same steps.
inline constexpr uint32_t kStride = 0x9E3779B9u;  // 2^32 / golden ratio
inline constexpr uint32_t kMix1 = 0x7FEB352Du;
inline constexpr uint32_t kMix2 = 0x846CA68Bu;

inline uint64_t mix64(uint64_t x) {  // the finaliser of splitmix64
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// `matrix` is the number of the L×M matrix, b·H + m; 0 + m where one mask serves the whole batch.
inline uint64_t row_key(int64_t seed, int64_t matrix, int64_t row) {
  return mix64(mix64(mix64(static_cast<uint64_t>(seed)) ^ static_cast<uint64_t>(matrix)) ^
               static_cast<uint64_t>(row));
}

inline uint32_t random_bits(uint64_t key, uint32_t column) {
  uint32_t x = column * kStride + static_cast<uint32_t>(key);
  x = (x ^ (x >> 16)) * kMix1;
  x = (x ^ (x >> 15)) + static_cast<uint32_t>(key >> 32);
  x *= kMix2;
  return x ^ (x >> 16);
}

/// An entry is dropped where its bits are below this.
inline uint32_t drop_threshold(double probability) {
  return static_cast<uint32_t>(probability * 4294967296.0);
}

}  // namespace synthesizer::kernel
