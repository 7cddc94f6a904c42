// A variant from outside the library works like those inside: alone, in mixtures, trained, decoded, counted.

#include "attention/gradient_check.h"
#include "attention/layers.h"
#include "attention/registry.h"

namespace synthesizer::testing {
namespace {

AttentionOptions options(const std::string& spec, bool causal = false) {
  return {.attention = spec, .width = 6, .heads = 2, .max_length = 7, .causal = causal};
}

/// table[m, i - j + N - 1] for the first n positions, by loops.
at::Tensor distances(const at::Tensor& table, int64_t n) {
  auto s = at::empty({2, n, n}, table.options().requires_grad(false));
  for (int64_t m = 0; m < 2; ++m)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) s[m][i][j] = table.detach()[m][i - j + 6];
  return s;
}

TEST(ExampleVariant, is_in_the_registry) {
  EXPECT_EQ(find_variant("dist").name, "distance");
  EXPECT_EQ(&find_variant("Distance"), &find_variant("dist"));
  EXPECT_THROW(find_variant("distanze"), std::invalid_argument);
}

TEST(ExampleVariant, gives_the_weights_of_its_formula) {
  auto layer = make_layer(options("Dist"));
  const auto table = layer->named_parameters()["logits.Dist.table"];
  EXPECT_EQ(table.sizes(), (at::IntArrayRef{2, 13}));
  for (int64_t n : {1, 4, 7}) {
    const auto x = noise({3, n, 6}, 2), weights = at::softmax(distances(table, n), -1);
    EXPECT_TRUE(close(layer->weights(x), weights.unsqueeze(0), 1e-6)) << n;
    const auto value =
        at::linear(x, layer->named_parameters()["value.weight"]).view({3, n, 2, 3}).transpose(1, 2);
    const auto joined = at::matmul(weights, value).transpose(1, 2).reshape({3, n, 6});
    EXPECT_TRUE(
        close(layer->forward(x), at::linear(joined, layer->named_parameters()["output.weight"]), 1e-5))
        << n;
  }
}

TEST(ExampleVariant, mixes_with_another) {
  auto layer = make_layer(options("Dist+V"));
  const auto named = layer->named_parameters();
  const auto x = noise({3, 7, 6}, 2), alpha = at::softmax(named["logits.mixture"], 0);
  auto heads = [&](const char* name) {
    return at::linear(x, named[name]).view({3, 7, 2, 3}).transpose(1, 2);
  };
  const auto vanilla =
      at::matmul(heads("logits.V.query.weight"), heads("logits.V.key.weight").transpose(2, 3)) /
      std::sqrt(3.0);
  const auto weights =
      at::softmax(alpha[0] * distances(named["logits.Dist.table"], 7) + alpha[1] * vanilla, -1);
  EXPECT_TRUE(close(layer->weights(x), weights, 1e-5));
}

TEST(ExampleVariant, has_gradients) {
  for (const char* spec : {"Dist", "Dist+V", "D+Dist"}) {
    for (bool causal : {false, true})
      check_gradients(make_layer(options(spec, causal)), 2, 5, some_lengths(2, 5));
  }
}

TEST(ExampleVariant, decodes) {
  for (const char* spec : {"Dist", "Dist+V", "FD+Dist"}) {
    auto layer = make_layer(options(spec, true));
    const auto x = noise({2, 7, 6}, 2), whole = layer->forward(x);
    State state = layer->start(2);
    for (int64_t t = 0; t < 7; ++t)
      EXPECT_TRUE(close(layer->step(x.select(1, t), state), whole.select(1, t), 1e-5));
  }
}

TEST(ExampleVariant, is_counted) {
  EXPECT_EQ(make_layer(options("Dist"))->mixer().count(7).synthesis, 2 * 13);
  EXPECT_EQ(make_layer(options("Dist+V"))->mixer().count(7).synthesis, 2 * 13 + 2 * 36 + 2);
  EXPECT_TRUE(make_layer(options("Dist"))->mixer().global());
}

TEST(ExampleVariant, refuses_to_grow) {
  EXPECT_THROW(make_layer(options("Dist+V"))->grow(9), std::invalid_argument);
  EXPECT_NO_THROW(make_layer(options("Dist"))->grow(7));  // to what it is
}

TEST(ExampleVariant, takes_no_options) {
  AttentionOptions with_rank = options("Dist");
  with_rank.options.set("rank", int64_t{3});
  EXPECT_THROW(Attention{with_rank}, std::invalid_argument);
}

}  // namespace
}  // namespace synthesizer::testing
