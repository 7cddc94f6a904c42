#include "text/line_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "text/permutation.h"

namespace synthesizer {

LineBatches::LineBatches(const TokenStore& store, LineBatchOptions options)
    : store_(store), options_(std::move(options)) {
  check_options();
  select();
  sort();
  cut();
}

void LineBatches::check_options() {
  const size_t fields = store_.fields();
  if (options_.max_lengths.empty()) options_.max_lengths.resize(fields, 0);
  if (options_.before.empty()) options_.before.resize(fields);
  if (options_.after.empty()) options_.after.resize(fields);
  for (size_t given : {options_.max_lengths.size(), options_.before.size(), options_.after.size()}) {
    if (given != fields)
      invalid(fmt::format("limits or tokens for {} fields, where there are {}", given, fields));
  }
}

void LineBatches::select() {
  for (int64_t example = 0; example < store_.size(); ++example) {
    if (fits(example)) sorted_.push_back(example);
  }
  if (sorted_.empty()) {
    invalid(fmt::format("{}: no example is left: {} with an empty field, {} too long", store_.path(0), empty_,
                        too_long_));
  }
}

void LineBatches::sort() {
  // One counting sort a field, each of which keeps the order of the one before: the last field decides first.
  std::vector<int64_t> moved(sorted_.size());
  for (size_t field = 0; field < store_.fields(); ++field) {
    std::vector<int64_t> places{0};  // where examples of a length go
    for (int64_t example : sorted_) {
      const auto next = static_cast<size_t>(kept(example, field)) + 1;
      if (places.size() <= next) places.resize(next + 1);
      ++places[next];
    }
    std::partial_sum(places.begin(), places.end(), places.begin());
    for (int64_t example : sorted_) {
      int64_t& place = places[static_cast<size_t>(kept(example, field))];
      moved[static_cast<size_t>(place++)] = example;
    }
    sorted_.swap(moved);
  }
}

bool LineBatches::fits(int64_t example) {
  bool empty = false;
  std::optional<size_t> over;
  for (size_t field = 0; field < store_.fields(); ++field) {
    const int64_t length = store_.length(example, field), limit = options_.max_lengths[field];
    empty = empty || length == 0;
    if (limit > 0 && length > limit && !over) over = field;
  }
  if (empty) {
    ++empty_;
    return false;
  }
  if (!over) return true;
  if (options_.too_long == TooLong::error) {
    invalid(fmt::format(
        "{}: {} tokens, over the limit of {}: raise it, or set data.too_long to \"skip\" or "
        "\"truncate\"",
        store_.where(example, *over), store_.length(example, *over), options_.max_lengths[*over]));
  }
  ++too_long_;
  return options_.too_long == TooLong::truncate;
}

void LineBatches::cut() {
  int64_t rows = 0, longest = 0;
  cuts_.push_back(0);
  for (int64_t i = 0; i < examples(); ++i) {
    const int64_t example = sorted_[static_cast<size_t>(i)];
    int64_t length = 0;
    for (size_t field = 0; field < store_.fields(); ++field)
      length = std::max(length, padded(example, field));
    if (length > options_.batch_tokens) {
      invalid(
          fmt::format("{}: {} tokens do not fit into a batch of {}: raise train.batch_tokens, or lower the "
                      "maximum length",
                      store_.where(example), length, options_.batch_tokens));
    }
    longest = std::max(longest, length);
    const bool full = options_.batch_examples > 0 && rows == options_.batch_examples;
    if (full || (rows + 1) * longest > options_.batch_tokens) {
      cuts_.push_back(i);
      rows = 0;
      longest = length;
    }
    ++rows;
  }
  cuts_.push_back(examples());
}

int64_t LineBatches::kept(int64_t example, size_t field) const {
  const int64_t length = store_.length(example, field), limit = options_.max_lengths[field];
  return limit > 0 ? std::min(length, limit) : length;
}

int64_t LineBatches::padded(int64_t example, size_t field) const {
  return kept(example, field) + (options_.before[field] ? 1 : 0) + (options_.after[field] ? 1 : 0);
}

LineBatches::Totals LineBatches::totals(size_t field) const {
  Totals sum;
  for (const int64_t example : sorted_) {
    sum.tokens += padded(example, field);
    sum.words += store_.words(example, field);
    sum.characters += store_.characters(example, field);
  }
  return sum;
}

bool LineBatches::same_lengths(int64_t a, int64_t b) const {
  for (size_t field = 0; field < store_.fields(); ++field) {
    if (kept(a, field) != kept(b, field)) return false;
  }
  return true;
}

std::shared_ptr<const LineBatches::Epoch> LineBatches::epoch(int64_t number) const {
  std::lock_guard lock(mutex_);
  if (epoch_ && epoch_->number == number) return epoch_;
  epoch_.reset();
  const uint64_t seed = combine_seeds(options_.seed, static_cast<uint64_t>(number));
  Epoch made{number, sorted_, permutation(per_epoch(), combine_seeds(seed, 0))};
  RandomNumbers random(combine_seeds(seed, 1));
  for (auto begin = made.examples.begin(); begin != made.examples.end();) {
    auto end = std::find_if(begin, made.examples.end(), [&](int64_t e) { return !same_lengths(*begin, e); });
    shuffle(std::span<int64_t>(begin, end), random);
    begin = end;
  }
  epoch_ = std::make_shared<const Epoch>(std::move(made));
  return epoch_;
}

Batch LineBatches::make(int64_t sequence) const {
  auto place = static_cast<size_t>(sequence % per_epoch());
  std::shared_ptr<const Epoch> shuffled;
  if (options_.shuffle) {
    shuffled = epoch(sequence / per_epoch());
    place = static_cast<size_t>(shuffled->batches[place]);
  }
  const auto& order = shuffled ? shuffled->examples : sorted_;
  Batch batch;
  batch.sequence = sequence;
  batch.examples.assign(order.begin() + cuts_[place], order.begin() + cuts_[place + 1]);
  for (size_t i = 0; i < store_.fields(); ++i) {
    Field field{static_cast<int64_t>(batch.examples.size()), 0, {}, {}};
    for (int64_t example : batch.examples) field.lengths.push_back(padded(example, i));
    field.columns = *std::max_element(field.lengths.begin(), field.lengths.end());
    field.ids.resize(static_cast<size_t>(field.rows * field.columns));
    for (size_t row = 0; row < batch.examples.size(); ++row) {
      auto at = field.ids.begin() + static_cast<int64_t>(row) * field.columns;
      if (options_.before[i]) *at++ = *options_.before[i];
      const int64_t example = batch.examples[row];
      const auto tokens = store_.tokens(example, i).first(static_cast<size_t>(kept(example, i)));
      at = std::copy(tokens.begin(), tokens.end(), at);
      if (options_.after[i]) *at = *options_.after[i];
    }
    batch.fields.push_back(std::move(field));
  }
  return batch;
}

std::string LineBatches::describe(const Batch& batch) const {
  return describe_examples(store_, batch.examples);
}

}  // namespace synthesizer
