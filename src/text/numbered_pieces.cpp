#include "text/numbered_pieces.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "text/sentencepiece_model.h"
#include "text/sentencepiece_training.h"
#include "text/special_tokens.h"
#include "text/symbol_file.h"

namespace synthesizer {
namespace {

constexpr std::string_view kNumberedMagic = "synthesizer numbered pieces 1\n";
constexpr std::string_view kWordMark = "\xE2\x96\x81";  // ▁, which stands for a space in pieces

/// The fields behind the first line, as CBOR: a model is bytes.
PieceNumbering parse_numbering(const std::string& serialized, const std::string& name) {
  const auto body = std::string_view(serialized).substr(kNumberedMagic.size());
  try {
    const auto fields = nlohmann::json::from_cbor(body);
    const auto& model = fields.at("model").get_binary();
    return {.model = std::string(model.begin(), model.end()),
            .pieces = fields.at("pieces").get<std::vector<std::string>>(),
            .begin = fields.at("begin").get<Token>(),
            .end = fields.at("end").get<Token>(),
            .unknown = fields.at("unknown").get<Token>(),
            .forbidden = fields.at("forbidden").get<Token>(),
            .language_codes = fields.at("language_codes").get<bool>(),
            .added = fields.at("added").get<std::vector<std::string>>()};
  } catch (const nlohmann::json::exception&) {
    no_tokenizer(name, "it is cut off or damaged");
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

NumberedPieces::NumberedPieces(const std::string& serialized, const std::string& name)
    : NumberedPieces(parse_numbering(serialized, name), name) {}

NumberedPieces::NumberedPieces(PieceNumbering numbering, const std::string& name)
    : numbering_(std::move(numbering)) {
  silence_sentencepiece();
  if (!inspect_sentencepiece_model(numbering_.model).valid ||
      !processor_.LoadFromSerializedProto(numbering_.model).ok()) {
    no_tokenizer(name, "its SentencePiece model is damaged or not one");
  }
  const auto size = static_cast<Token>(numbering_.pieces.size());
  for (const Token token : {numbering_.begin, numbering_.end, numbering_.unknown}) {
    if (token < 0 || token >= size) no_tokenizer(name, "a special token is not in the vocabulary");
  }
  if (numbering_.forbidden >= size) no_tokenizer(name, "a special token is not in the vocabulary");
  for (Token n = 0; n < size; ++n) {
    const std::string& piece = numbering_.pieces[static_cast<size_t>(n)];
    if (!piece.empty()) numbers_.emplace(piece, n);
  }
  for (const std::string& token : numbering_.added) {
    if (token.empty() || !numbers_.contains(token)) no_tokenizer(name, "an added token has no number");
    added_.emplace_back(token, numbers_.at(token));
  }
  // As transformers has it: "</s>" in a text is the token, not its characters.
  for (const Token token : {numbering_.begin, numbering_.end, numbering_.unknown}) {
    const std::string& text = numbering_.pieces[static_cast<size_t>(token)];
    const bool known =
        std::any_of(added_.begin(), added_.end(), [&](const auto& one) { return one.second == token; });
    if (!text.empty() && !known) added_.emplace_back(text, token);
  }
}

bool NumberedPieces::is_serialized(std::string_view contents) {
  return contents.starts_with(kNumberedMagic);
}

std::string NumberedPieces::serialized() const {
  const nlohmann::json fields = {
      {"model", nlohmann::json::binary({numbering_.model.begin(), numbering_.model.end()})},
      {"pieces", numbering_.pieces},
      {"begin", numbering_.begin},
      {"end", numbering_.end},
      {"unknown", numbering_.unknown},
      {"forbidden", numbering_.forbidden},
      {"language_codes", numbering_.language_codes},
      {"added", numbering_.added}};
  std::string text(kNumberedMagic);
  const auto body = nlohmann::json::to_cbor(fields);
  return text.append(body.begin(), body.end());
}

bool NumberedPieces::shares_vocabulary(const Tokenizer& other) const {
  const auto* theirs = dynamic_cast<const NumberedPieces*>(&other);
  return theirs && theirs->numbering_.pieces == numbering_.pieces;
}

Token NumberedPieces::number_of(const std::string& piece) const {
  const auto found = numbers_.find(piece);
  return found != numbers_.end() ? found->second : numbering_.unknown;
}

void NumberedPieces::encode_plain(std::string_view text, Tokens& tokens) const {
  std::vector<std::string> pieces;
  const auto status = processor_.Encode(text, &pieces);
  if (!status.ok()) throw std::runtime_error("SentencePiece cannot encode a line: " + status.ToString());
  for (const std::string& piece : pieces) tokens.push_back(number_of(piece));
}

Tokens NumberedPieces::encode(std::string_view line) const {
  Tokens tokens;
  if (numbering_.language_codes && line.starts_with(">>")) {
    if (const size_t end = line.find("<<"); end != std::string_view::npos) {
      tokens.push_back(number_of(std::string(line.substr(0, end + 2))));
      line.remove_prefix(end + 2);
    }
  }
  split_at_added(
      line, added_, [&](std::string_view text) { encode_plain(text, tokens); },
      [&](Token token) { tokens.push_back(token); });
  return tokens;
}

std::string NumberedPieces::decode(std::span<const Token> tokens) const {
  std::vector<std::string> pieces;
  for (const Token token : tokens) {
    check_token(token, size());
    auto is_token = [&](const auto& added) { return added.second == token; };
    if (token < 0 || std::any_of(added_.begin(), added_.end(), is_token)) continue;
    if (const std::string& text = numbering_.pieces[static_cast<size_t>(token)]; !text.empty())
      pieces.push_back(text);
  }
  std::string text;
  const auto status = processor_.Decode(pieces, &text);
  if (!status.ok()) throw std::runtime_error("SentencePiece cannot decode tokens: " + status.ToString());
  // What the model has no piece for keeps its mark for a space.
  for (size_t at = text.find(kWordMark); at != std::string::npos; at = text.find(kWordMark, at))
    text.replace(at, kWordMark.size(), " ");
  return std::string(trimmed(text));
}

std::string NumberedPieces::piece(Token token) const {
  check_token(token, size());
  return token < 0 ? "" : numbering_.pieces[static_cast<size_t>(token)];
}

}  // namespace synthesizer
