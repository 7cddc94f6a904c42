#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace synthesizer {

/// Adaptive computation time (Graves 2016) over the applications of a Universal Transformer's layer: each
/// position decides after how many of them it stops.
///
///     p_n = sigmoid(w · s_n + b)                     of the state that goes into application n
///     N   = the first n with p_1 + … + p_n > threshold, at most T
///     R   = 1 - (p_1 + … + p_(N-1))
///     out = Σ_(n<N) p_n · s_(n+1) + R · s_(N+1)      weights that sum to 1
///
/// A position that has stopped keeps its state; others still see it. The cost of pondering is N + R, of which
/// R has a gradient. One object serves one pass over the applications; tensors are …×D, any shape before D.
class Halting {
 public:
  /// `weight` D and `bias` 1; `most` is T.
  Halting(at::Tensor weight, at::Tensor bias, double threshold, int64_t most)
      : weight_(std::move(weight)), bias_(std::move(bias)), threshold_(threshold), most_(most) {}

  /// Before the next application, with what goes into it: which positions it counts for, and how much.
  void decide(const at::Tensor& entering);
  /// After it: the next state, from the one before the application and its result.
  at::Tensor apply(const at::Tensor& before, const at::Tensor& after);

  const at::Tensor& output() const { return output_; }
  /// Whether all positions have stopped: further applications change nothing.
  bool done() const;

  const at::Tensor& steps() const { return steps_; }       ///< N, …×1
  at::Tensor cost() const { return steps_ + remainder_; }  ///< N + R, …×1

 private:
  at::Tensor weight_, bias_;
  double threshold_;
  int64_t most_, application_ = 0;
  at::Tensor sum_, steps_, remainder_, running_, was_running_, share_, output_;
};

/// What a forward pass on this thread pondered while the object exists: one entry for each stack of layers.
class PonderScope {
 public:
  PonderScope();
  ~PonderScope();
  PonderScope(const PonderScope&) = delete;
  PonderScope& operator=(const PonderScope&) = delete;

  struct Entry {
    at::Tensor cost;  ///< the mean of N + R over the positions that are not padding, with its gradient
    double steps;     ///< the mean of N
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  friend void report_pondering(const Halting& halting, const at::Tensor& lengths);
  std::vector<Entry> entries_;
  PonderScope* before_;
};

/// Tells the scope of this thread, if there is one, what positions B×L (up to their lengths) pondered.
void report_pondering(const Halting& halting, const at::Tensor& lengths);

}  // namespace synthesizer
