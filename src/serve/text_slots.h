#pragma once

#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "serve/metrics.h"

namespace synthesizer::serve {

/// The texts that a batcher decodes together, each in a slot of its own (SlotSteps), and how many they are in
/// the metrics. `Text` has the `job` that it belongs to.
template <class Text>
class TextSlots {
 public:
  TextSlots(int64_t count, Metrics& metrics) : texts_(static_cast<size_t>(count)), metrics_(&metrics) {}

  size_t free() const { return texts_.size() - used_; }
  bool empty() const { return used_ == 0; }
  Text& operator[](int64_t slot) { return *texts_[static_cast<size_t>(slot)]; }

  /// The slots that hold a text, in their order.
  std::vector<int64_t> used() const {
    std::vector<int64_t> slots;
    for (size_t slot = 0; slot < texts_.size(); ++slot) {
      if (texts_[slot]) slots.push_back(static_cast<int64_t>(slot));
    }
    return slots;
  }

  /// Puts a text into the first slot that is free, of which there must be one.
  int64_t begin(Text text) {
    size_t slot = 0;
    while (texts_[slot]) ++slot;
    texts_[slot].emplace(std::move(text));
    ++used_;
    ++metrics_->active;
    return static_cast<int64_t>(slot);
  }

  void end(int64_t slot) {
    texts_[static_cast<size_t>(slot)].reset();
    --used_;
    --metrics_->active;
  }

  void fail_all(const std::exception_ptr& reason) {
    for (const int64_t slot : used()) {
      (*this)[slot].job->pending->fail(reason);
      end(slot);
    }
  }

 private:
  std::vector<std::optional<Text>> texts_;
  size_t used_ = 0;
  Metrics* metrics_;
};

}  // namespace synthesizer::serve
