#include "text/sentencepiece_tokenizer.h"

#include <exception>
#include <new>

#include "text/sentencepiece_model.h"
#include "text/sentencepiece_training.h"
#include "text/special_tokens.h"
#include "text/symbol_file.h"

namespace synthesizer {
namespace {

/// Whether a call of SentencePiece went well. With some damaged models it throws in place of giving a status.
template <class Call>
bool succeeds(const Call& call) {
  try {
    return call().ok();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(std::string model, const std::string& name)
    : model_(std::move(model)), name_(name) {
  silence_sentencepiece();
  const SentencePieceModel inside = inspect_sentencepiece_model(model_);
  if (!inside.valid || !succeeds([&] { return processor_.LoadFromSerializedProto(model_); })) {
    no_tokenizer(name, "it is neither a SentencePiece model nor one of this program's, or it is damaged");
  }
  kind_ = inside.kind;
  end_ = processor_.eos_id();
  if (end_ < 0) no_tokenizer(name, "this SentencePiece model has no end-of-sentence piece (</s>)");
  begin_ = processor_.bos_id() >= 0 ? processor_.bos_id() : processor_.pad_id();
  if (begin_ < 0) begin_ = end_;
}

Tokens SentencePieceTokenizer::encode(std::string_view line) const {
  Tokens tokens;
  if (!succeeds([&] { return processor_.Encode(line, &tokens); }))
    no_tokenizer(name_, "it is damaged: SentencePiece cannot encode a line with it");
  return tokens;
}

std::string SentencePieceTokenizer::decode(std::span<const Token> tokens) const {
  Tokens pieces;
  pieces.reserve(tokens.size());
  for (Token token : tokens) {
    check_token(token, size());
    // Control pieces are begin, end, padding and the like: no text.
    if (token >= 0 && !processor_.IsControl(token)) pieces.push_back(token);
  }
  std::string text;
  if (!succeeds([&] { return processor_.Decode(pieces, &text); }))
    no_tokenizer(name_, "it is damaged: SentencePiece cannot decode tokens with it");
  return text;
}

std::string SentencePieceTokenizer::piece(Token token) const {
  check_token(token, size());
  return token < 0 ? "" : processor_.IdToPiece(token);
}

}  // namespace synthesizer
