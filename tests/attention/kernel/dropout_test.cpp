// Dropout on the weights: how much is kept, that the mean stays, that every place has bits of its own, and
// that all paths and both directions use the same mask.

#include "attention/kernel/problems.h"
#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

/// The mask itself, B×H×L×M of 0 and 1: with no part of the logits but equal weights, and the identity as
/// value.
at::Tensor mask_of(int parts, const Sizes& sizes, const Dropout& dropout, at::ScalarType dtype = at::kFloat) {
  Inputs inputs = make_inputs(parts, sizes);
  for (auto& [name, tensor] : inputs.tensors()) tensor->zero_();
  inputs.value =
      at::eye(sizes.columns).expand({sizes.batch, sizes.heads, sizes.columns, sizes.columns}).contiguous();
  inputs = inputs.to(dtype);
  const auto y = attend(inputs.logits, inputs.mask, inputs.value, dropout);  // B×H×L×M, kept / (M (1-p))
  return (y * sizes.columns * (1 - dropout.probability)).round();
}

TEST(AttendDropout, keeps_the_share_it_should_and_scales_the_rest) {
  for (int parts : kKinds) {
    for (double p : {0.1, 0.5, 0.9}) {
      const auto kept = mask_of(parts, {2, 2, 200, 200, 0}, {p, 42});
      EXPECT_TRUE(kept.eq(0).logical_or(kept.eq(1)).all().item<bool>());
      const double count = parts == table ? 80000 : 160000;  // one mask for the batch where logits are global
      const double allowed = 5 * std::sqrt(p * (1 - p) / count);
      EXPECT_NEAR(kept.mean().item<double>(), 1 - p, allowed) << parts_name(parts) << " " << p;
    }
  }
}

TEST(AttendDropout, leaves_the_mean_over_seeds_as_it_was) {
  for (int parts : kKinds) {
    const Inputs inputs = make_inputs(parts, {1, 1, 20, 20, 3});
    const auto expected = run(inputs).result;
    auto sum = at::zeros_like(expected);
    constexpr int64_t kSeeds = 4000;
    for (int64_t seed = 0; seed < kSeeds; ++seed) {
      sum += attend(inputs.logits, inputs.mask, inputs.value, {0.3, seed});
    }
    // An entry's standard deviation is at most about |v| sqrt(p/(1-p)): five of them over sqrt(4000).
    EXPECT_LT((sum / kSeeds - expected).abs().max().item<double>(), 0.15) << parts_name(parts);
  }
}

TEST(AttendDropout, is_the_same_for_the_same_seed_and_another_for_another) {
  for (int parts : kKinds) {
    for (auto dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
      const Inputs inputs = make_inputs(parts, {2, 2, 70, 70, 4}).to(dtype);
      const Outcome once = run(inputs, {0.3, 5});
      expect_same_bits(run(inputs, {0.3, 5}), once, parts_name(parts));
      EXPECT_FALSE(close(run(inputs, {0.3, 6}).result, once.result, 1e-2)) << parts_name(parts);
    }
  }
}

TEST(AttendDropout, has_one_mask_in_all_paths) {
  for (int parts : kKinds) {
    for (int64_t seed : {int64_t{0}, int64_t{-1}, int64_t{1} << 62, std::numeric_limits<int64_t>::min()}) {
      const Sizes sizes{2, 3, 20, 70, 0};
      EXPECT_TRUE(same_bits(mask_of(parts, sizes, {0.4, seed}).to(at::kDouble),
                            mask_of(parts, sizes, {0.4, seed}, at::kDouble)))
          << parts_name(parts) << " " << seed;
    }
  }
}

TEST(AttendDropout, has_one_mask_for_the_batch_where_logits_are_global_and_one_a_sample_otherwise) {
  const auto shared = mask_of(table, {2, 2, 50, 50, 0}, {0.5, 3}),
             own = mask_of(query_key, {2, 2, 50, 50, 0}, {0.5, 3});
  EXPECT_TRUE(same_bits(shared[0], shared[1]));
  EXPECT_FALSE(at::equal(own[0], own[1]));
  EXPECT_FALSE(at::equal(shared[0][0], shared[0][1]));
}

/// Of two masks of the same shape, in standard deviations of what chance gives.
double correlation(const at::Tensor& a, const at::Tensor& b) {
  const auto x = a.reshape({-1}) - a.mean(), y = b.reshape({-1}) - b.mean();
  const double r = (x * y).mean().item<double>() /
                   std::sqrt(x.square().mean().item<double>() * y.square().mean().item<double>());
  return std::abs(r) * std::sqrt(static_cast<double>(x.numel()));
}

TEST(AttendDropout, is_uncorrelated_between_neighbours) {
  for (double p : {0.1, 0.5}) {
    const int64_t n = 256;
    const auto kept = mask_of(query_key, {3, 4, n, n, 0}, {p, 17}).to(at::kDouble);
    auto shifted = [&](int64_t dimension, int64_t by) {
      const int64_t left = kept.size(dimension) - by;
      return correlation(kept.narrow(dimension, 0, left), kept.narrow(dimension, by, left));
    };
    for (int64_t dimension = 0; dimension < 4; ++dimension) {
      for (int64_t by : {1, 2})
        EXPECT_LT(shifted(dimension, by), 4.5) << "dimension " << dimension << " by " << by;
    }
    for (int64_t by : {8, 16, 128}) {
      EXPECT_LT(shifted(2, by), 4.5) << by;
      EXPECT_LT(shifted(3, by), 4.5) << by;
    }
    EXPECT_LT(correlation(kept, kept.transpose(2, 3)), 6.4)
        << "rows against columns";  // each pair counts twice
    const auto next_seed = mask_of(query_key, {3, 4, n, n, 0}, {p, 18}).to(at::kDouble);
    EXPECT_LT(correlation(kept, next_seed), 4.5) << "the next seed";
  }
}

TEST(AttendDropout, of_rows_and_columns_varies_as_chance_would) {
  const auto kept = mask_of(query_key, {1, 1, 1000, 1000, 0}, {0.5, 23});
  for (int64_t dimension : {2, 3}) {
    // Means of 1000 coin tosses have the variance 1/4000; that of 1000 such means is known to 4.5 %.
    EXPECT_NEAR(kept.mean(dimension).var().item<double>() * 4000, 1, 0.25) << dimension;
  }
}

TEST(AttendDropout, of_zero_is_none) {
  for (int parts : kKinds) {
    const Inputs inputs = make_inputs(parts, {2, 2, 20, 20, 4});
    expect_same_bits(run(inputs, {0, 5}), run(inputs), parts_name(parts));
  }
}

TEST(AttendDropout, has_gradients_that_finite_differences_confirm) {
  for (int parts : kKinds) {
    const Dropout dropout{0.4, 31};
    Inputs inputs = make_inputs(parts, {2, 1, 5, 5, 3}).to(at::kDouble);
    const auto grad = noise({2, 1, 5, 3}, 77).to(at::kDouble);
    const Outcome outcome = run(inputs, dropout, grad);
    for (size_t n = 0; n < outcome.gradients.size(); ++n) {
      auto tensor = *inputs.tensors()[n].second;
      auto* numbers = tensor.data_ptr<double>();
      auto loss = [&] {
        return (attend(inputs.logits, inputs.mask, inputs.value, dropout) * grad).sum().item<double>();
      };
      for (int64_t i = 0; i < tensor.numel(); i += 3) {
        const double at = numbers[i], step = 1e-5;
        numbers[i] = at + step;
        const double above = loss();
        numbers[i] = at - step;
        const double below = loss();
        numbers[i] = at;
        const double actual = outcome.gradients[n].second.contiguous().data_ptr<double>()[i];
        EXPECT_NEAR(actual, (above - below) / (2 * step), 1e-7)
            << parts_name(parts) << " " << outcome.gradients[n].first;
      }
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
