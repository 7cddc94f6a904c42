#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace synthesizer {

/// The n-grams of a segment and its references as a tree: a node stands for the n-gram of its symbols from
/// the root on, so that equal n-grams of any order have the same number and are compared exactly.
class NgramTree {
 public:
  NgramTree();

  /// Forgets everything; what was allocated is kept for the next segment.
  void clear();

  /// The node of the n-gram longer by one symbol. The root, which is no n-gram, is 0.
  uint32_t extend(uint32_t node, uint32_t symbol);

  int order(uint32_t node) const { return orders_[node]; }
  size_t size() const { return orders_.size(); }

 private:
  size_t place(uint64_t key) const;
  void grow();

  // An open hash table from (node, symbol) to the longer node; key 0 is a free place.
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> nodes_;
  std::vector<uint64_t> key_of_;  // a node's key
  std::vector<int> orders_;
};

/// How often each node occurs.
using NgramCounts = std::vector<int32_t>;

/// The n-grams of orders 1 to `order`; the tree is extended by those that are new.
NgramCounts count_ngrams(NgramTree& tree, std::span<const uint32_t> symbols, int order);

inline int32_t count_of(const NgramCounts& counts, size_t node) {
  return node < counts.size() ? counts[node] : 0;
}

/// How many n-grams of that order a sequence has.
inline int64_t ngrams_in(size_t length, int order) {
  const auto n = static_cast<size_t>(order);
  return length < n ? 0 : static_cast<int64_t>(length - n + 1);
}

/// Numbers for words, equal words the same. The text they were taken from must stay.
class WordNumbers {
 public:
  void clear() { numbers_.clear(); }
  std::vector<uint32_t> of(const std::vector<std::string_view>& words);

 private:
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

}  // namespace synthesizer
