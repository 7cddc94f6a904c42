#include "attention/weight_cache.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace synthesizer {

bool WeightCache::fresh(const std::vector<at::Tensor>& parameters) const {
  return std::equal(sources_.begin(), sources_.end(), parameters.begin(), parameters.end(),
                    [](const Source& source, const at::Tensor& t) {
                      return source.tensor.is_same(t) && source.stamp.fits(t);
                    });
}

WeightCache::Entry WeightCache::get(const std::vector<at::Tensor>& parameters, int64_t length,
                                    int64_t max_length, bool causal,
                                    const std::function<Entry(int64_t)>& make) {
  const bool countable = std::none_of(parameters.begin(), parameters.end(),
                                      [](const at::Tensor& t) { return t.is_inference(); });
  if (!countable) return make(length);
  std::lock_guard lock(mutex_);
  if (length_ < 0 || !fresh(parameters)) length_ = -1;
  const bool serves = causal ? length_ >= length : length_ == length;
  if (!serves) {
    // Decoding asks for one more each time: doubling makes that a handful of times in all.
    const int64_t made = causal && length_ > 0 ? std::min(max_length, std::max(length, 2 * length_)) : length;
    entry_ = make(made);
    length_ = made;
    sources_.clear();
    for (const at::Tensor& t : parameters) sources_.push_back({t, Stamp(t)});
  }
  auto cut = [length](const at::Tensor& t) { return t.narrow(1, 0, length).narrow(2, 0, length); };
  return {cut(entry_.weights), cut(entry_.table)};
}

void WeightCache::clear() {
  std::lock_guard lock(mutex_);
  entry_ = {};
  sources_.clear();
  length_ = -1;
}

}  // namespace synthesizer
