#include "task/text_template.h"

#include <fmt/format.h>

#include "base/error.h"

namespace synthesizer {

TextTemplate::TextTemplate(const std::string& text, const std::string& what) {
  const auto wrong = [&](const std::string& why) { invalid(fmt::format("{} \"{}\": {}", what, text, why)); };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      pieces_.back() += c;
    } else if (i + 1 < text.size() && text[i + 1] == c) {
      pieces_.back() += c;
      ++i;
    } else if (c == '}') {
      wrong("a } closes nothing (a brace of the text is written }})");
    } else {
      const size_t end = text.find_first_of("{}", i + 1);
      if (end == std::string::npos || text[end] == '{')
        wrong(fmt::format("the brace before '{}' is not closed", text.substr(i + 1, end - i - 1)));
      if (end == i + 1) wrong("{} names no column");
      fields_.push_back(text.substr(i + 1, end - i - 1));
      pieces_.emplace_back();
      i = end;
    }
  }
  if (fields_.empty()) wrong("it names no column: write one as {column}");
}

std::string TextTemplate::filled(const std::string* values) const {
  std::string text = pieces_[0];
  for (size_t i = 0; i < fields_.size(); ++i) text.append(values[i]).append(pieces_[i + 1]);
  return text;
}

}  // namespace synthesizer
