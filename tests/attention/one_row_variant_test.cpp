// A variant whose table has one row for all: a layer of it gives as many rows as it is given.

#include "attention/gradient_check.h"
#include "attention/layers.h"
#include "attention/registry.h"

namespace synthesizer::testing {
namespace {

/// S_ij = table[m, j]: every row weighs the positions alike.
class Popular : public Synthesis {
 public:
  explicit Popular(const AttentionOptions& options)
      : heads_(options.heads), max_length_(options.max_length) {}

  std::vector<Parameter> parameters() const override {
    return {{"table", Role::logits, {heads_, max_length_}, Init::normal(1)}};
  }
  Logits logits(const Weights& weights, const at::Tensor&, const RowRange& range) const override {
    Logits logits;
    logits.table = weights["table"].narrow_symint(1, 0, range.columns).unsqueeze(1);  // H×1×M
    return logits;
  }
  int64_t macs(int64_t) const override { return 0; }

 private:
  int64_t heads_, max_length_;
};

const bool popular_registered = [] {
  add_variant({"popular", "Pop", Variant::Tokens::none, false, "hN", {}, [](const auto& options) {
                 return std::make_unique<Popular>(options);
               }});
  return true;
}();

AttentionOptions popular_options(const std::string& spec, bool causal) {
  return {.attention = spec, .width = 6, .heads = 2, .max_length = 7, .causal = causal};
}

/// softmax of the table under the mask, by ATen: H×L×L.
at::Tensor expected_weights(const Attention& layer, int64_t n, bool causal) {
  const auto row = layer->named_parameters()["logits.Pop.table"].detach().narrow(1, 0, n).unsqueeze(1);
  const auto unseen = at::ones({n, n}, at::kBool).triu(1);
  const auto logits = row.expand({2, n, n});
  return at::softmax(causal ? logits.masked_fill(unseen, -INFINITY) : logits, -1);
}

TEST(OneRowVariant, gives_a_result_for_every_row) {
  for (bool causal : {false, true}) {
    for (auto dtype : {at::kFloat, at::kDouble}) {
      auto layer = converted(make_layer(popular_options("Pop", causal)), dtype);
      for (int64_t n : {1, 4, 7}) {
        const auto x = noise({3, n, 6}, 2).to(dtype), weights = expected_weights(layer, n, causal);
        EXPECT_TRUE(close(layer->weights(x), weights.unsqueeze(0), 1e-6)) << n;
        const auto named = layer->named_parameters();
        const auto value = at::linear(x, named["value.weight"]).view({3, n, 2, 3}).transpose(1, 2);
        const auto joined = at::matmul(weights, value).transpose(1, 2).reshape({3, n, 6});
        const auto expected = at::linear(joined, named["output.weight"]);
        EXPECT_TRUE(close(layer->forward(x), expected, 1e-5)) << n;
        layer->eval();
        const torch::NoGradGuard no_grad;
        for (int times = 0; times < 2; ++times) EXPECT_TRUE(close(layer->forward(x), expected, 1e-5)) << n;
      }
    }
  }
}

TEST(OneRowVariant, has_gradients_and_mixes) {
  for (const char* spec : {"Pop", "Pop+R", "Pop+V"}) {
    for (bool causal : {false, true})
      check_gradients(make_layer(popular_options(spec, causal)), 2, 5, some_lengths(2, 5));
  }
}

TEST(OneRowVariant, decodes) {
  for (const char* spec : {"Pop", "Pop+R", "Pop+V"}) {
    for (auto dtype : {at::kFloat, at::kDouble}) {
      auto layer = converted(make_layer(popular_options(spec, true)), dtype);
      const auto x = noise({2, 7, 6}, 2).to(dtype);
      EXPECT_TRUE(close(by_steps(layer, x), layer->forward(x), 1e-5)) << spec;
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
