#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"

namespace synthesizer {

using Token = int32_t;
using Tokens = std::vector<Token>;

/// Text to numbers and back. Thread-safe once made.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// One line, without begin() or end().
  virtual Tokens encode(std::string_view line) const = 0;
  /// The text of tokens; begin(), end() and padding are left out.
  virtual std::string decode(std::span<const Token> tokens) const = 0;
  /// One token, to look at.
  virtual std::string piece(Token token) const = 0;

  virtual int64_t size() const = 0;  ///< of the vocabulary
  virtual Token begin() const = 0;   ///< what a decoder starts from
  virtual Token end() const = 0;     ///< what ends a sentence
  /// What stands for text that has no token of its own; -1 where every text has tokens (bytes).
  virtual Token unknown() const { return -1; }
  /// What no text should be made with, though the model gives it a probability: unknown() where nothing else
  /// is said.
  virtual Token forbidden() const { return unknown(); }
  /// Whether a token of one is the same token of the other, so that both can have one embedding.
  virtual bool shares_vocabulary(const Tokenizer& other) const { return this == &other; }
  /// Whether encode() takes a text of several lines as it is, because line breaks are text like any other.
  virtual bool reads_line_breaks() const { return false; }
  /// Whether a text that is to be continued is read with begin() before it.
  virtual bool begins_prompts() const { return true; }
  /// What stands for a line end in a running text: the line break itself where the tokenizer has it
  /// (characters, bytes), end() otherwise.
  virtual Token line_end() const { return end(); }

  virtual std::string kind() const = 0;  ///< "unigram", "bpe", "characters", "bytes", "words"
  /// The contents of `tokenizer.model`; parse_tokenizer gives the same tokenizer back.
  virtual std::string serialized() const = 0;
};

/// The kinds of tokenizers that can be trained.
enum class TokenizerKind { unigram, bpe, characters, bytes, words };
inline Choices choices(TokenizerKind) {
  static constexpr ChoiceName names[] = {{"unigram"}, {"bpe"}, {"characters"}, {"bytes"}, {"words"}};
  return names;
}

struct TokenizerOptions {
  TokenizerKind kind = TokenizerKind::unigram;
  int64_t vocabulary = 8000;      ///< pieces, special ones included; 0: all there are (characters, words)
  double character_coverage = 1;  ///< SentencePiece: share of the characters that get a piece of their own
};

/// Calls its argument with every line there is to learn from.
using LineSource = std::function<void(const std::function<void(std::string_view)>&)>;

/// Throws InvalidInput where the text is empty, or cannot give the vocabulary that was asked for (with the
/// largest it can give).
std::unique_ptr<Tokenizer> train_tokenizer(const TokenizerOptions& options, const LineSource& lines);

/// `name`: the file, for messages. Throws InvalidInput where the contents are no tokenizer.
std::unique_ptr<Tokenizer> parse_tokenizer(const std::string& contents, const std::string& name);
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path);

}  // namespace synthesizer
