#include "text/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "text/byte_tokenizer.h"
#include "text/character_tokenizer.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/sentencepiece_training.h"
#include "text/symbol_file.h"
#include "text/word_tokenizer.h"

namespace synthesizer {
namespace {

const std::vector<std::string> kKinds = {"unigram", "bpe", "characters", "bytes", "words"};

}  // namespace

std::unique_ptr<Tokenizer> train_tokenizer(const TokenizerOptions& options, const LineSource& lines) {
  const std::string& kind = options.kind;
  if (kind == "characters") {
    return std::make_unique<CharacterTokenizer>(CharacterTokenizer::train(options.vocabulary, lines));
  }
  if (kind == "words") {
    return std::make_unique<WordTokenizer>(WordTokenizer::train(options.vocabulary, lines));
  }
  // Nothing to learn: the vocabulary is what it is.
  if (kind == "bytes") return std::make_unique<ByteTokenizer>();
  if (kind == "unigram" || kind == "bpe") {
    return std::make_unique<SentencePieceTokenizer>(train_sentencepiece(options, lines), "the new tokenizer");
  }
  invalid(fmt::format("data.tokenizer is \"{}\": it must be one of {}{}", kind, fmt::join(kKinds, ", "),
                      did_you_mean(kind, kKinds)));
}

std::unique_ptr<Tokenizer> parse_tokenizer(const std::string& contents, const std::string& name) {
  if (contents.empty()) no_tokenizer(name, "it is empty");
  if (!is_symbol_file(contents)) return std::make_unique<SentencePieceTokenizer>(contents, name);
  SymbolFile file = parse_symbols(contents, name);
  if (file.kind == "characters") {
    return std::make_unique<CharacterTokenizer>(CharacterTokenizer::parse(std::move(file)));
  }
  if (file.kind == "words") return std::make_unique<WordTokenizer>(WordTokenizer::parse(std::move(file)));
  if (file.kind == "bytes" && file.symbols.empty()) return std::make_unique<ByteTokenizer>();
  no_tokenizer(name, file.kind == "bytes" ? "bytes have no symbols of their own"
                                          : fmt::format("its kind '{}' is unknown", file.kind));
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path) {
  return parse_tokenizer(read_file(path), path);
}

}  // namespace synthesizer
