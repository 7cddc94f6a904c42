#include "text/batches.h"

#include <fmt/format.h>

#include <algorithm>

namespace synthesizer {

std::string describe_examples(const TokenStore& store, const std::vector<int64_t>& examples) {
  constexpr size_t kShown = 3;
  const size_t shown = std::min(examples.size(), kShown);
  std::string text, path;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += ", ";
    const std::string& here = store.path(examples[i]);
    text += here == path ? std::to_string(store.line(examples[i])) : store.where(examples[i]);
    path = here;
  }
  if (examples.size() > shown) text += fmt::format(" and {} more", examples.size() - shown);
  return text;
}

}  // namespace synthesizer
