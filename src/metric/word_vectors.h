#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace synthesizer {

/// The vectors of some words from a file of many: the text format of word2vec and GloVe, a word per line and
/// its numbers behind it, plain or gzip, with or without word2vec's first line (how many, how wide).
/// Of a word that is there twice the first counts. GloVe's words with spaces inside are read past.
class WordVectors {
 public:
  /// Only these words are kept; their text must stay. Throws InvalidInput ("glove.txt:17: …") where a line is
  /// not as wide as the first or not of numbers, and where the file has none of the words.
  WordVectors(const std::string& path, const std::vector<std::string_view>& words);

  /// Empty where the file doesn't have the word.
  std::span<const float> find(std::string_view word) const;
  /// Of all words of the file.
  std::span<const float> mean() const { return mean_; }
  size_t width() const { return width_; }

 private:
  static constexpr size_t kMissing = static_cast<size_t>(-1);

  void read(const std::string& path);

  size_t width_ = 0;
  std::unordered_map<std::string_view, size_t> rows_;
  std::vector<float> values_;  // row after row
  std::vector<float> mean_;
};

}  // namespace synthesizer
