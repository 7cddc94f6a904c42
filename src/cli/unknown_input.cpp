#include "cli/unknown_input.h"

#include "base/number_text.h"
#include "cli/print.h"

namespace synthesizer::cli {

void UnknownInput::add(const std::vector<std::string>& lines, int64_t first) {
  if (tokenizer_.unknown() < 0) return;
  for (size_t i = 0; i < lines.size(); ++i) {
    const UnknownTokens found = count_unknown(tokenizer_, tokenizer_.encode(lines[i]));
    all_.unknown += found.unknown;
    all_.tokens += found.tokens;
    if (found.unknown == 0) continue;
    if (lines_++ == 0) first_line_ = first + static_cast<int64_t>(i);
  }
}

void UnknownInput::report(const std::string& run) const {
  if (all_.unknown == 0) return;
  print_note(
      "synth: warning: {} of the input's {} tokens are unknown to the tokenizer of {}, in {} {}, first in "
      "line {}: the model cannot tell them apart\n",
      with_thousands(all_.unknown), with_thousands(all_.tokens), run, with_thousands(lines_),
      lines_ == 1 ? "line" : "lines", first_line_);
}

}  // namespace synthesizer::cli
