#pragma once

#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace synthesizer {

/// Classes as tokens: a line is one label, token n is the n-th of them. It serves the field of a corpus that
/// holds labels; no text is made of it, so it has no begin and no end.
class LabelTokenizer : public Tokenizer {
 public:
  explicit LabelTokenizer(std::vector<std::string> labels) : labels_(std::move(labels)) {}

  /// Throws InvalidInput where there is no such label.
  Tokens encode(std::string_view line) const override;
  std::string decode(std::span<const Token> tokens) const override;
  std::string piece(Token token) const override { return labels_[static_cast<size_t>(token)]; }
  int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  Token begin() const override { return -1; }
  Token end() const override { return -1; }
  std::string kind() const override { return "labels"; }
  std::string serialized() const override;

 private:
  std::vector<std::string> labels_;
};

}  // namespace synthesizer
