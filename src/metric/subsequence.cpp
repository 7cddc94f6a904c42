#include "metric/subsequence.h"

#include <algorithm>

namespace synthesizer {

size_t longest_common_subsequence(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  std::vector<size_t> lengths(b.size() + 1, 0);  // of the part of a so far and the first j of b
  for (const uint32_t word : a) {
    size_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = lengths[j];
      lengths[j] = word == b[j - 1] ? diagonal + 1 : std::max(above, lengths[j - 1]);
      diagonal = above;
    }
  }
  return lengths.back();
}

std::vector<size_t> common_places(std::span<const uint32_t> reference, std::span<const uint32_t> text) {
  const size_t columns = text.size() + 1;
  std::vector<uint32_t> table((reference.size() + 1) * columns, 0);
  for (size_t i = 1; i <= reference.size(); ++i) {
    uint32_t* row = table.data() + i * columns;
    const uint32_t* above = row - columns;
    for (size_t j = 1; j < columns; ++j) {
      row[j] = reference[i - 1] == text[j - 1] ? above[j - 1] + 1 : std::max(above[j], row[j - 1]);
    }
  }
  std::vector<size_t> places;
  for (size_t i = reference.size(), j = text.size(); i > 0 && j > 0;) {
    if (reference[i - 1] == text[j - 1]) {
      places.push_back(--i);
      --j;
    } else if (table[i * columns + j - 1] > table[(i - 1) * columns + j]) {
      --j;
    } else {
      --i;
    }
  }
  std::reverse(places.begin(), places.end());
  return places;
}

}  // namespace synthesizer
