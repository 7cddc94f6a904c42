#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// A text to train SentencePiece with, in one piece of memory: it asks for sentences one by one, a LineSource
/// hands them out.
///
/// SentencePiece skips sentences that are too long without a word, and its BPE ends the whole program at
/// words of 65536 characters. So long lines are cut, at white space where there is some.
class Sentences {
 public:
  static constexpr size_t kLongest = 4096;  ///< bytes

  void add(std::string_view line);
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<size_t> ends_;
};

}  // namespace synthesizer
