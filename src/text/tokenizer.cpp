#include "text/tokenizer.h"

#include <fmt/format.h>

#include "base/file.h"
#include "text/byte_pairs.h"
#include "text/byte_tokenizer.h"
#include "text/character_tokenizer.h"
#include "text/numbered_pieces.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/sentencepiece_training.h"
#include "text/symbol_file.h"
#include "text/word_pieces.h"
#include "text/word_tokenizer.h"

namespace synthesizer {

std::unique_ptr<Tokenizer> train_tokenizer(const TokenizerOptions& options, const LineSource& lines) {
  switch (options.kind) {
    case TokenizerKind::characters:
      return std::make_unique<CharacterTokenizer>(CharacterTokenizer::train(options.vocabulary, lines));
    case TokenizerKind::words:
      return std::make_unique<WordTokenizer>(WordTokenizer::train(options.vocabulary, lines));
    // Nothing to learn: the vocabulary is what it is.
    case TokenizerKind::bytes: return std::make_unique<ByteTokenizer>();
    case TokenizerKind::unigram:
    case TokenizerKind::bpe: break;
  }
  return std::make_unique<SentencePieceTokenizer>(train_sentencepiece(options, lines), "the new tokenizer");
}

std::unique_ptr<Tokenizer> parse_tokenizer(const std::string& contents, const std::string& name) {
  if (contents.empty()) no_tokenizer(name, "it is empty");
  if (NumberedPieces::is_serialized(contents)) return std::make_unique<NumberedPieces>(contents, name);
  if (BytePairs::is_serialized(contents)) return std::make_unique<BytePairs>(contents, name);
  if (WordPieces::is_serialized(contents)) return std::make_unique<WordPieces>(contents, name);
  if (!is_symbol_file(contents)) return std::make_unique<SentencePieceTokenizer>(contents, name);
  SymbolFile file = parse_symbols(contents, name);
  const auto kind = find_choice(choices(TokenizerKind{}), file.kind);
  if (kind == static_cast<size_t>(TokenizerKind::characters))
    return std::make_unique<CharacterTokenizer>(CharacterTokenizer::parse(std::move(file)));
  if (kind == static_cast<size_t>(TokenizerKind::words))
    return std::make_unique<WordTokenizer>(WordTokenizer::parse(std::move(file)));
  if (kind != static_cast<size_t>(TokenizerKind::bytes))
    no_tokenizer(name, fmt::format("its kind '{}' is unknown", file.kind));
  if (!file.symbols.empty()) no_tokenizer(name, "bytes have no symbols of their own");
  return std::make_unique<ByteTokenizer>();
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path) {
  return parse_tokenizer(read_file(path), path);
}

}  // namespace synthesizer
