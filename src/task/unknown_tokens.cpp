#include "task/unknown_tokens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/number_text.h"
#include "task/running_text.h"
#include "task/task.h"

namespace synthesizer {

UnknownTokens unknown_tokens(const Dataset& data) {
  UnknownTokens found;
  for (const auto& store : data.stores) {
    for (size_t field = 0; field < store->fields(); ++field) {
      const auto unknown = store->unknown_tokens(field);
      if (!unknown) continue;
      found.unknown += *unknown;
      found.tokens += store->total_tokens(field);
    }
  }
  return found;
}

std::optional<std::string> unknown_warning(const Dataset& data, const UnknownTokens& found) {
  if (found.percent() <= 1) return std::nullopt;
  return fmt::format(
      "warning: {:.1f}% of the tokens of {} are unknown to the tokenizer ({} of {}): a model predicts the "
      "unknown token easily, so its scores look better than they are",
      found.percent(), fmt::join(data.paths, ", "), with_thousands(found.unknown),
      with_thousands(found.tokens));
}

UnknownTokens count_unknown(const Tokenizer& tokenizer, const Tokens& tokens) {
  const auto unknown = std::count(tokens.begin(), tokens.end(), tokenizer.unknown());
  return {tokenizer.unknown() < 0 ? 0 : unknown, static_cast<int64_t>(tokens.size())};
}

UnknownTokens unknown_tokens(const Tokenizer& tokenizer, const std::string& text) {
  return count_unknown(tokenizer, encode_text(tokenizer, text));
}

}  // namespace synthesizer
