#include "decode/beam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <span>

#include "decode/candidates.h"
#include "decode/limits.h"
#include "decode/repeats.h"
#include "decode/sentence_beam.h"
#include "decode/tensor_access.h"

namespace synthesizer {

std::vector<std::vector<Hypothesis>> beam_search(StepModel& model, int64_t begin, int64_t end,
                                                 const std::vector<int64_t>& max_lengths,
                                                 const DecodeOptions& options) {
  c10::NoGradGuard no_grad;
  std::vector<SentenceBeam> beams;
  for (int64_t limit : output_limits(model, max_lengths, options)) beams.emplace_back(end, limit, options);

  std::vector<int64_t> tokens(beams.size(), begin);  // what each row of the model is fed next
  for (int64_t length = 0; !tokens.empty(); ++length) {
    const auto log_probability = log_probabilities(model.step(tensor_of(tokens)), end);  // B×V
    forbid(log_probability, model.forbidden());
    if (options.no_repeat_ngram > 0) {
      std::vector<const std::vector<int64_t>*> outputs;
      for (const SentenceBeam& beam : beams) {
        if (beam.done()) continue;
        for (const auto& live : beam.live()) outputs.push_back(&live.tokens);
      }
      forbid_repeats(log_probability, outputs, options.no_repeat_ngram);
    }
    if (options.renormalize) renormalize(log_probability, length < options.min_length ? end : -1);
    const auto best = best_tokens(log_probability, SentenceBeam::choices(options));
    const auto ends = float_values(log_probability.select(1, end));  // B

    tokens.clear();
    std::vector<int64_t> rows;
    size_t first = 0;  // row of the sentence; its live hypotheses lie side by side
    for (SentenceBeam& beam : beams) {
      if (beam.done()) continue;
      const size_t count = beam.live().size();
      beam.advance(std::span(best).subspan(first, count), std::span(ends).subspan(first, count));
      if (!beam.done()) {
        for (const auto& live : beam.live()) {
          rows.push_back(static_cast<int64_t>(first + live.parent));
          tokens.push_back(live.tokens.back());
        }
      }
      first += count;
    }
    select_rows(model, rows);
  }

  std::vector<std::vector<Hypothesis>> results;
  for (const SentenceBeam& beam : beams) results.push_back(beam.results());
  return results;
}

}  // namespace synthesizer
