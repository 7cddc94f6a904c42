#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace synthesizer::bench {

/// Where the time of training steps goes. While it lives it listens to every operator that is called, sorts
/// it by its name and by the shape of its weight, and counts an operator's backward pass to what the operator
/// itself belongs to. Calls within calls count to the outer one. One at a time.
class StepProfiler {
 public:
  /// By the model's `feed_forward` its linear layers are told from projections.
  explicit StepProfiler(int64_t feed_forward);
  ~StepProfiler();
  StepProfiler(const StepProfiler&) = delete;
  StepProfiler& operator=(const StepProfiler&) = delete;

  /// Seconds by part, the largest first.
  std::vector<std::pair<std::string, double>> seconds() const;

 private:
  uint64_t handle_;
};

}  // namespace synthesizer::bench
