#include "text/label_tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "text/special_tokens.h"

namespace synthesizer {

Tokens LabelTokenizer::encode(std::string_view line) const {
  const auto found = std::find(labels_.begin(), labels_.end(), line);
  if (found == labels_.end())
    invalid(fmt::format("'{}' is none of the labels {}", line, fmt::join(labels_, ", ")));
  return {static_cast<Token>(found - labels_.begin())};
}

std::string LabelTokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token token : tokens) {
    check_token(token, size());
    if (token < 0) continue;
    if (!text.empty()) text += ' ';
    text += piece(token);
  }
  return text;
}

std::string LabelTokenizer::serialized() const {
  return fmt::format("labels\n{}\n", fmt::join(labels_, "\n"));
}

}  // namespace synthesizer
