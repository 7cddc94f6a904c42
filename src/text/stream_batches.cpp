#include "text/stream_batches.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "text/permutation.h"

namespace synthesizer {
namespace {

int64_t ceil_divide(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

StreamBatches::StreamBatches(const TokenStore& store, StreamBatchOptions options)
    : store_(store), options_(options) {
  if (store.fields() != 1) {
    invalid(fmt::format("{} has {} fields, where a running text has one", store.path(0), store.fields()));
  }
  if (options_.length < 1) invalid(fmt::format("length is {}: it must be at least 1", options_.length));
  if (options_.rows < 1) invalid(fmt::format("rows is {}: it must be at least 1", options_.rows));
  tokens_ = store.total_tokens(0) + store.size();
  words_ = characters_ = store.size();
  for (int64_t line = 0; line < store.size(); ++line) {
    words_ += store.words(line, 0);
    characters_ += store.characters(line, 0);
  }
  options_.length = std::min(options_.length, tokens_);
  windows_ = options_.shuffle ? tokens_ / options_.length : ceil_divide(tokens_, options_.length);
  options_.rows = std::min(options_.rows, windows_);
}

int64_t StreamBatches::per_epoch() const {
  return ceil_divide(windows_, options_.rows);
}

std::shared_ptr<const StreamBatches::Epoch> StreamBatches::epoch(int64_t number) const {
  std::lock_guard lock(mutex_);
  if (epoch_ && epoch_->number == number) return epoch_;
  epoch_.reset();
  const uint64_t seed = combine_seeds(options_.seed, static_cast<uint64_t>(number));
  // At least one window has to follow the offset.
  const int64_t offsets = std::min(options_.length, tokens_ - options_.length + 1);
  const auto offset =
      static_cast<int64_t>(RandomNumbers(combine_seeds(seed, 0)).below(static_cast<uint64_t>(offsets)));
  const int64_t windows = (tokens_ - offset) / options_.length;
  epoch_ = std::make_shared<const Epoch>(Epoch{number, offset, permutation(windows, combine_seeds(seed, 1))});
  return epoch_;
}

std::vector<int64_t> StreamBatches::begins(int64_t sequence) const {
  const int64_t first = sequence % per_epoch() * options_.rows;
  std::vector<int64_t> begins;
  if (!options_.shuffle) {
    const int64_t end = std::min(first + options_.rows, windows_);
    for (int64_t window = first; window < end; ++window) begins.push_back(window * options_.length);
    return begins;
  }
  const auto shuffled = epoch(sequence / per_epoch());
  for (int64_t i = first; i < first + options_.rows; ++i) {
    const auto place = static_cast<size_t>(i) % shuffled->windows.size();
    begins.push_back(shuffled->offset + shuffled->windows[place] * options_.length);
  }
  return begins;
}

Batch StreamBatches::make(int64_t sequence) const {
  const auto windows = begins(sequence);
  Batch batch;
  batch.sequence = sequence;
  Field shape{static_cast<int64_t>(windows.size()), 0, {}, {}};
  for (int64_t begin : windows) {
    shape.lengths.push_back(std::min(options_.length, tokens_ - begin));
    shape.columns = std::max(shape.columns, shape.lengths.back());
    batch.examples.push_back(line_at(begin));
  }
  shape.ids.resize(static_cast<size_t>(shape.rows * shape.columns));
  batch.fields = {shape, shape};
  for (size_t row = 0; row < windows.size(); ++row) {
    const auto at = row * static_cast<size_t>(shape.columns);
    copy(windows[row] - 1, shape.lengths[row], batch.fields[0].ids.data() + at);
    copy(windows[row], shape.lengths[row], batch.fields[1].ids.data() + at);
  }
  return batch;
}

int64_t StreamBatches::line_at(int64_t position) const {
  int64_t low = 0, high = store_.size();  // the line is in [low, high)
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (begin_of(middle) <= position ? low : high) = middle;
  }
  return low;
}

void StreamBatches::copy(int64_t position, int64_t count, int64_t* to) const {
  const int64_t* end = to + count;
  if (position < 0) {
    *to++ = options_.first;
    position = 0;
  }
  int64_t line = line_at(position);
  auto skip = static_cast<size_t>(position - begin_of(line));
  for (; to < end; ++line, skip = 0) {
    auto tokens = store_.tokens(line, 0).subspan(skip);
    tokens = tokens.first(std::min(tokens.size(), static_cast<size_t>(end - to)));
    to = std::copy(tokens.begin(), tokens.end(), to);
    if (to < end) *to++ = options_.line_end;
  }
}

std::string StreamBatches::describe(const Batch& batch) const {
  return describe_examples(store_, batch.examples);
}

}  // namespace synthesizer
