#include "metric/ngrams.h"

#include <algorithm>

namespace synthesizer {

NgramTree::NgramTree() : keys_(1024), nodes_(1024), key_of_{0}, orders_{0} {}

void NgramTree::clear() {
  // Freeing one place may cut the way to another, but not where all are freed, last come first.
  for (size_t node = key_of_.size(); node-- > 1;) keys_[place(key_of_[node])] = 0;
  key_of_.resize(1);
  orders_.resize(1);
}

size_t NgramTree::place(uint64_t key) const {
  const size_t last = keys_.size() - 1;  // the size is a power of two
  uint64_t hash = key * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 32;
  size_t at = hash & last;
  while (keys_[at] != 0 && keys_[at] != key) at = (at + 1) & last;
  return at;
}

uint32_t NgramTree::extend(uint32_t node, uint32_t symbol) {
  const uint64_t key = (static_cast<uint64_t>(node) << 32 | symbol) + 1;
  size_t at = place(key);
  if (keys_[at] == key) return nodes_[at];
  if (2 * orders_.size() > keys_.size()) {
    grow();
    at = place(key);
  }
  const auto longer = static_cast<uint32_t>(orders_.size());
  keys_[at] = key;
  nodes_[at] = longer;
  key_of_.push_back(key);
  orders_.push_back(orders_[node] + 1);
  return longer;
}

void NgramTree::grow() {
  keys_.assign(2 * keys_.size(), 0);
  nodes_.resize(keys_.size());
  for (size_t node = 1; node < key_of_.size(); ++node) {
    const size_t at = place(key_of_[node]);
    keys_[at] = key_of_[node];
    nodes_[at] = static_cast<uint32_t>(node);
  }
}

NgramCounts count_ngrams(NgramTree& tree, std::span<const uint32_t> symbols, int order) {
  NgramCounts counts(tree.size());
  for (size_t begin = 0; begin < symbols.size(); ++begin) {
    const size_t end = std::min(symbols.size(), begin + static_cast<size_t>(order));
    uint32_t node = 0;
    for (size_t at = begin; at < end; ++at) {
      node = tree.extend(node, symbols[at]);
      if (node >= counts.size()) counts.resize(node + 1);
      ++counts[node];
    }
  }
  return counts;
}

std::vector<uint32_t> WordNumbers::of(const std::vector<std::string_view>& words) {
  std::vector<uint32_t> numbers;
  numbers.reserve(words.size());
  for (std::string_view word : words) {
    numbers.push_back(numbers_.try_emplace(word, static_cast<uint32_t>(numbers_.size())).first->second);
  }
  return numbers;
}

}  // namespace synthesizer
