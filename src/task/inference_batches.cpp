#include "task/inference_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace synthesizer {

Tokens truncate_line(Tokens tokens, int64_t limit, int64_t number, LongLine too_long,
                     std::vector<std::string>& remarks) {
  const auto size = static_cast<int64_t>(tokens.size());
  if (size <= limit) return tokens;
  if (too_long == LongLine::error) {
    invalid(
        fmt::format("line {}: {} tokens, and the model takes {}: shorten it, or cut with --too-long truncate",
                    number, size, limit));
  }
  remarks.push_back(fmt::format("line {}: {} tokens, cut to {}", number, size, limit));
  tokens.resize(static_cast<size_t>(limit));
  return tokens;
}

void check_length(const char* what, const Tokens& tokens, int64_t limit) {
  const auto size = static_cast<int64_t>(tokens.size());
  if (size <= limit) return;
  invalid(fmt::format("the {} has {} tokens, and the model takes {}: shorten it", what, size, limit));
}

std::vector<std::vector<size_t>> inference_batches(const std::vector<Tokens>& texts, int64_t batch_tokens) {
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return texts[a].size() > texts[b].size(); });
  std::vector<std::vector<size_t>> batches;
  for (size_t begin = 0; begin < order.size();) {
    const size_t longest = texts[order[begin]].size() + 1;
    const size_t room = std::max<size_t>(1, static_cast<size_t>(batch_tokens) / longest);
    const size_t end = std::min(order.size(), begin + room);
    batches.emplace_back(order.begin() + static_cast<int64_t>(begin),
                         order.begin() + static_cast<int64_t>(end));
    begin = end;
  }
  return batches;
}

}  // namespace synthesizer
