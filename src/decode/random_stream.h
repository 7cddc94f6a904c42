#pragma once

#include <cstdint>

namespace synthesizer {

/// Random numbers of one row: splitmix64 (Steele, Lea, Flood 2014), which is a few lines and the same on
/// every machine. Rows of one seed, and seeds of one row, start from mixed values and so far apart.
class RandomStream {
 public:
  RandomStream(uint64_t seed, uint64_t row) : state_(mix(mix(seed) + row)) {}

  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15U); }

  /// In [0, 1), of 53 bits: every value is exact in a double.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace synthesizer
