#include "task/running_text.h"

#include <algorithm>
#include <span>

namespace synthesizer {

Tokens encode_text(const Tokenizer& tokenizer, const std::string& text) {
  if (tokenizer.reads_line_breaks()) return tokenizer.encode(text);
  Tokens all;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const Tokens line = tokenizer.encode(std::string_view(text).substr(begin, end - begin));
    all.insert(all.end(), line.begin(), line.end());
    if (end < text.size()) all.push_back(tokenizer.line_end());
    begin = end + 1;
  }
  return all;
}

std::string decode_text(const Tokenizer& tokenizer, const Tokens& tokens) {
  if (tokenizer.reads_line_breaks()) return tokenizer.decode(tokens);
  std::string text;
  size_t begin = 0;
  for (size_t i = 0; i <= tokens.size(); ++i) {
    if (i < tokens.size() && tokens[i] != tokenizer.line_end()) continue;
    text += tokenizer.decode(std::span(tokens).subspan(begin, i - begin));
    if (i < tokens.size()) text += '\n';
    begin = i + 1;
  }
  return text;
}

}  // namespace synthesizer
