#pragma once

#include <array>
#include <unordered_map>

#include "text/added_tokens.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// Byte-level byte-pair encoding, as GPT-2 has it: text is cut at the borders of words, numbers and signs,
/// and the bytes of each part are merged pair by pair, the pair that was learnt first first. Every text has
/// tokens, and tokens give exactly their text back.
struct BytePairModel {
  /// By number, each byte written as a printable character (0x20 as Ġ); "" where the number has none.
  std::vector<std::string> pieces;
  std::vector<std::pair<std::string, std::string>> merges;  ///< the most important first
  std::string end;  ///< the token that parts texts, "<|endoftext|>": one of the pieces
};

class BytePairs : public Tokenizer {
 public:
  /// Throws InvalidInput where a byte or a merged pair has no number.
  BytePairs(BytePairModel model, const std::string& name);
  BytePairs(const std::string& serialized, const std::string& name);
  static bool is_serialized(std::string_view contents);

  /// A text with its line breaks.
  Tokens encode(std::string_view text) const override;
  std::string decode(std::span<const Token> tokens) const override;
  std::string piece(Token token) const override;

  int64_t size() const override { return static_cast<int64_t>(model_.pieces.size()); }
  Token begin() const override { return end_; }
  Token end() const override { return end_; }
  Token line_end() const override { return bytes_[static_cast<unsigned char>('\n')]; }
  bool reads_line_breaks() const override { return true; }
  bool begins_prompts() const override { return false; }
  std::string kind() const override { return "byte pairs"; }
  std::string serialized() const override;
  const BytePairModel& model() const { return model_; }

 private:
  struct Merge {
    size_t rank;
    Token merged;
  };
  void encode_part(std::string_view part, Tokens& tokens) const;

  BytePairModel model_;
  Token end_ = 0;
  AddedTokens added_;
  std::array<Token, 256> bytes_;
  std::unordered_map<uint64_t, Merge> merges_;  ///< by two tokens
  std::vector<std::string> texts_;              ///< the bytes of each token
};

/// The parts that GPT-2 tokenizes one by one: 's 't 're 've 'm 'll 'd, words, numbers and runs of other
/// signs, each with one space before it, and other white space.
std::vector<std::string_view> split_for_byte_pairs(std::string_view text);

}  // namespace synthesizer
