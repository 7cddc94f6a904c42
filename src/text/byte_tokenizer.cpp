#include "text/byte_tokenizer.h"

#include <fmt/format.h>

#include "text/special_tokens.h"
#include "text/symbol_file.h"
#include "text/utf8.h"

namespace synthesizer {

Tokens ByteTokenizer::encode(std::string_view line) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(line.data());
  return {bytes, bytes + line.size()};
}

std::string ByteTokenizer::decode(std::span<const Token> tokens) const {
  std::string bytes;
  bytes.reserve(tokens.size());
  for (Token token : tokens) {
    check_token(token, size());
    if (token >= 0 && token < begin()) bytes += static_cast<char>(token);
  }
  return replace_invalid(bytes);
}

std::string ByteTokenizer::piece(Token token) const {
  check_token(token, size());
  if (token == begin()) return kSpecialNames[kBegin];
  if (token == end()) return kSpecialNames[kEnd];
  if (token >= ' ' && token <= '~') return {static_cast<char>(token)};
  return token < 0 ? "" : fmt::format("<0x{:02X}>", token);
}

std::string ByteTokenizer::serialized() const {
  return write_symbols(kind(), {});
}

}  // namespace synthesizer
