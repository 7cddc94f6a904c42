#include "text/added_tokens.h"

namespace synthesizer {

void split_at_added(std::string_view line, const AddedTokens& added,
                    const std::function<void(std::string_view)>& text,
                    const std::function<void(Token)>& token) {
  while (!line.empty()) {
    size_t place = std::string_view::npos;
    const std::pair<std::string, Token>* next = nullptr;
    for (const auto& one : added) {
      const size_t found = line.find(one.first);
      if (found == std::string_view::npos) continue;
      if (found < place || (found == place && one.first.size() > next->first.size())) {
        place = found;
        next = &one;
      }
    }
    if (!next) return text(line);
    if (place > 0) text(line.substr(0, place));
    token(next->second);
    line.remove_prefix(place + next->first.size());
  }
}

}  // namespace synthesizer
