#include "text/permutation.h"

#include <numeric>
#include <utility>

namespace synthesizer {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

/// The output function of splitmix64: every bit of the input reaches every bit of the result.
uint64_t scramble(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

uint64_t combine_seeds(uint64_t a, uint64_t b) {
  return scramble(scramble(a + kGolden) ^ (b * kGolden + 1));
}

uint64_t RandomNumbers::next() {
  return scramble(state_ += kGolden);
}

uint64_t RandomNumbers::below(uint64_t n) {
  // The lowest 2⁶⁴ mod n numbers are drawn again: what is left splits evenly into n classes.
  const uint64_t unfair = -n % n;
  uint64_t value = next();
  while (value < unfair) value = next();
  return value % n;
}

void shuffle(std::span<int64_t> values, RandomNumbers& random) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

std::vector<int64_t> permutation(int64_t n, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  RandomNumbers random(seed);
  shuffle(order, random);
  return order;
}

}  // namespace synthesizer
