#pragma once

#include <memory>

#include "attention/options.h"
#include "attention/registry.h"
#include "attention/synthesis.h"

namespace synthesizer {

/// The members of a spec as one synthesizing function (paper, "Mixture of Synthesizers"):
///
///     S = Σ_n α_n S_n(X)
///
/// `weights = "learned"` (default): α = softmax(a), a in R^n per layer, starting at 0, so that Σ α = 1;
/// `"learned-per-head"`: a in R^{H×n}; `"sum"`: every α = 1 and nothing is learned.
/// A spec with one member is that member: no weights. Parameters of a member are named after it, "V.…".
class Mixture : public Synthesis {
 public:
  explicit Mixture(const AttentionOptions& options);
  static std::vector<OptionInfo> options();

  std::vector<Parameter> parameters() const override;
  Logits logits(const Weights& weights, const at::Tensor& x, const Window& window) const override;
  void prepare_growth(AttentionOptions& larger) const override;
  int64_t macs(int64_t length) const override;

  /// No member looks at a token.
  bool global() const;

 private:
  struct Member {
    const Variant* variant;
    std::unique_ptr<Synthesis> synthesis;
  };
  enum class Kind { single, sum, learned, learned_per_head };

  std::vector<Member> members_;
  Kind kind_ = Kind::single;
  int64_t heads_;
};

/// What members are weighted by, from the learned numbers (n, or H×n).
at::Tensor mixture_shares(const at::Tensor& learned);

}  // namespace synthesizer
