#pragma once

#include <memory>

#include "attention/options.h"
#include "attention/registry.h"
#include "attention/synthesis.h"

namespace synthesizer {

/// How the logits of a mixture's members are weighted; names in mixture.cpp.
enum class MixtureWeights { learned, learned_per_head, sum };

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
  Logits logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const override;
  bool rows_are_independent() const override;
  void prepare_growth(AttentionOptions& larger) const override;
  int64_t macs(int64_t length) const override;

  /// No member's logits depend on a token.
  bool global() const;
  /// Some member's logits depend on no token.
  bool any_global() const;

 private:
  struct Member {
    const Variant* variant;
    std::unique_ptr<Synthesis> synthesis;
  };

  std::vector<Member> members_;
  MixtureWeights kind_ = MixtureWeights::sum;  ///< a single member counts as it is
  int64_t heads_;
};

/// Adds weight · table to the logits (H weights or one; undefined: 1). Multiplying the only table by its
/// weight is left to the kernel: no scaled copy of it is made.
void add_table(Logits& logits, const at::Tensor& table, const at::Tensor& weight = {});

/// The table times its scale; undefined where there is none.
at::Tensor scaled_table(const Logits& logits);

/// Global logits as one matrix per head, H×L×M, or H×1×M where all rows are the same. For inspection.
at::Tensor global_logits(const Logits& logits);

/// What members are weighted by, from the learned numbers (n, or H×n).
at::Tensor mixture_shares(const at::Tensor& learned);

}  // namespace synthesizer
