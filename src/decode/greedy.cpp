#include "decode/greedy.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "decode/candidates.h"
#include "decode/limits.h"
#include "decode/repeats.h"
#include "decode/tensor_access.h"

namespace synthesizer {

std::vector<std::vector<Hypothesis>> greedy_search(StepModel& model, int64_t begin, int64_t end,
                                                   const std::vector<int64_t>& max_lengths,
                                                   const DecodeOptions& options) {
  constexpr float impossible = -std::numeric_limits<float>::infinity();
  c10::NoGradGuard no_grad;
  const auto limits = output_limits(model, max_lengths, options);
  std::vector<std::vector<Hypothesis>> results(limits.size());
  std::vector<std::vector<int64_t>> outputs(limits.size());
  std::vector<double> sums(limits.size(), 0);

  std::vector<int64_t> sentences(limits.size());  // the one in each row of the model
  std::iota(sentences.begin(), sentences.end(), 0);
  std::vector<int64_t> tokens(limits.size(), begin);
  for (int64_t length = 0; !sentences.empty(); ++length) {
    const auto log_probability = log_probabilities(model.step(tensor_of(tokens)), end);  // B×V
    forbid(log_probability, model.forbidden());
    const auto ends = float_values(log_probability.select(1, end));
    if (options.no_repeat_ngram > 0) {
      std::vector<const std::vector<int64_t>*> so_far;
      for (const int64_t n : sentences) so_far.push_back(&outputs[static_cast<size_t>(n)]);
      forbid_repeats(log_probability, so_far, options.no_repeat_ngram);
    }
    if (length < options.min_length) log_probability.select(1, end).fill_(impossible);
    const auto [values, indices] = log_probability.max(1);  // B, the first of equal ones
    const auto value = float_values(values);
    const auto token = integer_values(indices);

    tokens.clear();
    std::vector<int64_t> rows, going_on;
    for (size_t row = 0; row < sentences.size(); ++row) {
      const int64_t n = sentences[row];
      if (std::isnan(value[row]) || std::isnan(ends[row])) throw_not_finite(static_cast<int64_t>(row));
      // The end is also forced, even below the minimum, where no other token is possible.
      if (length == limits[n] || token[row] == end || value[row] == impossible) {
        results[n] = {
            finished_hypothesis(std::move(outputs[n]), sums[n] + ends[row], length < limits[n], options)};
        continue;
      }
      outputs[n].push_back(token[row]);
      sums[n] += value[row];
      if (!options.forced_end && length + 1 == limits[n]) {
        results[n] = {cut_hypothesis(std::move(outputs[n]), sums[n], options)};
        continue;
      }
      tokens.push_back(token[row]);
      rows.push_back(static_cast<int64_t>(row));
      going_on.push_back(n);
    }
    sentences = std::move(going_on);
    select_rows(model, rows);
  }
  return results;
}

}  // namespace synthesizer
