#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace synthesizer {

/// A number that depends on both, in no simple way: seeds for the parts of a run from the run's one seed.
uint64_t combine_seeds(uint64_t a, uint64_t b);

/// Random numbers that are the same on every machine and with every standard library (splitmix64): a run can
/// be repeated, and resumed elsewhere.
class RandomNumbers {
 public:
  explicit RandomNumbers(uint64_t seed) : state_(seed) {}
  uint64_t next();
  /// Below n, each equally often; n > 0.
  uint64_t below(uint64_t n);

 private:
  uint64_t state_;
};

/// Every order equally likely (Fisher-Yates).
void shuffle(std::span<int64_t> values, RandomNumbers& random);

/// 0 … n-1 in an order that depends on nothing but the seed.
std::vector<int64_t> permutation(int64_t n, uint64_t seed);

}  // namespace synthesizer
