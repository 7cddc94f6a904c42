#include "decode/sample.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "decode/draw.h"
#include "decode/tensor_access.h"

namespace synthesizer {
namespace {

void check_prompts(const StepModel& model, const std::vector<std::vector<int64_t>>& prompts) {
  if (static_cast<int64_t>(prompts.size()) != model.rows()) {
    invalid(fmt::format("{} prompts for {} rows: there must be one for each", prompts.size(), model.rows()));
  }
  for (size_t n = 0; n < prompts.size(); ++n) {
    if (prompts[n].empty()) invalid(fmt::format("prompt {} is empty: give it at least one token", n));
    const auto length = static_cast<int64_t>(prompts[n].size());
    if (length > model.max_length()) {
      invalid(
          fmt::format("prompt {} has {} tokens: the model takes at most {}", n, length, model.max_length()));
    }
  }
}

}  // namespace

std::vector<std::vector<int64_t>> sample(StepModel& model, const std::vector<std::vector<int64_t>>& prompts,
                                         int64_t tokens, int64_t end, const DecodeOptions& options,
                                         const OnToken& on_token) {
  c10::NoGradGuard no_grad;
  check(options);
  check_prompts(model, prompts);
  if (tokens < 0) invalid(fmt::format("the number of tokens is {}: it must be at least 0", tokens));
  const int64_t limit = options.max_length > 0 ? std::min(tokens, options.max_length) : tokens;
  std::vector<std::vector<int64_t>> drawn(prompts.size());
  if (limit == 0) return drawn;

  std::vector<RandomStream> random;
  for (size_t n = 0; n < prompts.size(); ++n) random.emplace_back(options.seed, n);
  std::vector<int64_t> active(prompts.size());  // the prompt of each row of the model
  std::iota(active.begin(), active.end(), 0);

  // Short prompts are continued while longer ones are still fed.
  for (int64_t position = 0; !active.empty() && position < model.max_length(); ++position) {
    std::vector<int64_t> fed;
    for (int64_t n : active) {
      const auto length = static_cast<int64_t>(prompts[n].size());
      fed.push_back(position < length ? prompts[n][position] : drawn[n][position - length]);
    }
    const auto logits = model.step(tensor_of(fed)).to(at::kCPU, at::kFloat).contiguous();  // B×V
    forbid(logits, model.forbidden());
    const auto vocabulary = static_cast<size_t>(logits.size(1));

    std::vector<int64_t> rows, going_on;
    for (size_t row = 0; row < active.size(); ++row) {
      const int64_t n = active[row];
      if (position + 1 >= static_cast<int64_t>(prompts[n].size())) {
        const auto count = static_cast<int64_t>(drawn[n].size());
        const std::span values(logits.const_data_ptr<float>() + row * vocabulary, vocabulary);
        const auto weights = sampling_candidates(values, options, count < options.min_length ? end : -1);
        if (weights.empty()) throw_not_finite(static_cast<int64_t>(row));
        const int64_t token = draw_token(weights, random[n]);
        if (end >= 0 && token == end) continue;
        drawn[n].push_back(token);
        if (on_token) on_token(n, token);
        if (count + 1 == limit) continue;
      }
      rows.push_back(static_cast<int64_t>(row));
      going_on.push_back(n);
    }
    active = std::move(going_on);
    select_rows(model, rows);
  }
  return drawn;
}

}  // namespace synthesizer
