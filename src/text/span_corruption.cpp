#include "text/span_corruption.h"

#include <algorithm>
#include <cmath>

namespace synthesizer {
namespace {

struct Plan {
  int64_t taken, spans;
};

/// How much is taken out of a text of that length.
Plan plan(int64_t length, const SpanCorruption& how) {
  auto rounded = [](double value) { return static_cast<int64_t>(std::llround(value)); };
  int64_t taken = std::max<int64_t>(1, rounded(static_cast<double>(length) * how.share));
  if (length > 1) taken = std::min(taken, length - 1);
  int64_t spans = std::max<int64_t>(1, rounded(static_cast<double>(taken) / how.mean_length));
  // Each span needs a token of its own, and one before it that stays.
  spans = std::min({spans, taken, std::max<int64_t>(1, length - taken), how.sentinels});
  return {taken, spans};
}

/// `total` in `parts` numbers of at least 1, every way equally likely: the ends of all parts but the last are
/// drawn without repetition.
std::vector<int64_t> random_parts(int64_t total, int64_t parts, RandomNumbers& random) {
  auto ends = std::vector<int64_t>(static_cast<size_t>(std::max<int64_t>(total - 1, 0)));
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<int64_t>(i) + 1;
  shuffle(ends, random);
  ends.resize(static_cast<size_t>(parts - 1));
  std::sort(ends.begin(), ends.end());
  ends.push_back(total);
  std::vector<int64_t> lengths;
  int64_t before = 0;
  for (const int64_t end : ends) {
    lengths.push_back(end - before);
    before = end;
  }
  return lengths;
}

}  // namespace

Corrupted corrupt(std::span<const int64_t> tokens, const SpanCorruption& how, RandomNumbers& random) {
  const auto length = static_cast<int64_t>(tokens.size());
  Corrupted result{{}, {how.begin}};
  if (length > 0) {
    const auto [taken, spans] = plan(length, how);
    const auto out = random_parts(taken, spans, random);
    const auto stay = length > taken ? random_parts(length - taken, spans, random)
                                     : std::vector<int64_t>(static_cast<size_t>(spans), 0);
    auto next = tokens.begin();
    for (size_t n = 0; n < out.size(); ++n) {
      const int64_t sentinel = how.first_sentinel + static_cast<int64_t>(n);
      result.input.insert(result.input.end(), next, next + stay[n]);
      next += stay[n];
      result.input.push_back(sentinel);
      result.target.push_back(sentinel);
      result.target.insert(result.target.end(), next, next + out[n]);
      next += out[n];
    }
  }
  result.input.push_back(how.end);
  result.target.push_back(how.end);
  return result;
}

int64_t text_length(int64_t limit, const SpanCorruption& how) {
  auto input_length = [&](int64_t length) {
    const auto [taken, spans] = plan(length, how);
    return length - taken + spans + 1;
  };
  int64_t length = 1;
  while (input_length(length + 1) <= limit) ++length;
  return length;
}

Batch CorruptedBatches::make(int64_t sequence) const {
  Batch batch = windows_->make(sequence);
  const Field text = std::move(batch.fields[1]);
  std::vector<std::vector<int64_t>> inputs, targets;
  for (int64_t row = 0; row < text.rows; ++row) {
    RandomNumbers random(
        combine_seeds(combine_seeds(seed_, static_cast<uint64_t>(sequence)), static_cast<uint64_t>(row)));
    const auto begin = text.ids.data() + row * text.columns;
    auto [input, target] =
        corrupt({begin, static_cast<size_t>(text.lengths[static_cast<size_t>(row)])}, how_, random);
    inputs.push_back(std::move(input));
    targets.push_back(std::move(target));
  }
  batch.fields = {field_of(inputs), field_of(targets)};
  return batch;
}

}  // namespace synthesizer
