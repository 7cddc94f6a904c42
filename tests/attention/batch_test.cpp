// A sample's result depends on itself alone: alone, in a batch, in any place of it, beside longer ones.

#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

class Batch : public ::testing::TestWithParam<std::string> {};

TEST_P(Batch, of_one_equals_batch_of_many) {
  for (bool causal : {false, true}) {
    for (int64_t length : {7, 70}) {
      auto layer =
          make_layer({.attention = GetParam(), .width = 12, .heads = 3, .max_length = 70, .causal = causal});
      const auto x = noise({5, length, 12}, 2), together = layer->forward(x);
      for (int64_t b = 0; b < 5; ++b) {
        EXPECT_TRUE(close(layer->forward(x.narrow(0, b, 1)), together.narrow(0, b, 1), 1e-6));
      }
    }
  }
}

TEST_P(Batch, of_padded_samples_equals_each_alone_at_its_length) {
  for (bool causal : {false, true}) {
    auto layer =
        make_layer({.attention = GetParam(), .width = 12, .heads = 3, .max_length = 30, .causal = causal});
    const auto x = noise({4, 30, 12}, 2), lengths = at::tensor({30, 17, 1, 29}, at::kLong);
    const auto together = layer->forward(x, lengths);
    for (int64_t b = 0; b < 4; ++b) {
      const int64_t n = lengths[b].item<int64_t>();
      EXPECT_TRUE(close(layer->forward(x.narrow(0, b, 1).narrow(1, 0, n)),
                        together.narrow(0, b, 1).narrow(1, 0, n), 2e-6));
    }
  }
}

TEST_P(Batch, of_full_lengths_equals_no_lengths) {
  for (bool causal : {false, true}) {
    auto layer =
        make_layer({.attention = GetParam(), .width = 12, .heads = 3, .max_length = 30, .causal = causal});
    const auto x = noise({3, 30, 12}, 2);
    EXPECT_TRUE(close(layer->forward(x, at::full({3}, 30, at::kLong)), layer->forward(x), 1e-6));
  }
}

TEST_P(Batch, that_is_not_contiguous_gives_the_same) {
  auto layer = make_layer({.attention = GetParam(), .width = 12, .heads = 3, .max_length = 30});
  const auto x = noise({3, 20, 12}, 2), y = layer->forward(x);
  const std::pair<const char*, at::Tensor> layouts[] = {
      {"length first", x.transpose(0, 1).contiguous().transpose(0, 1)},
      {"width first", x.transpose(1, 2).contiguous().transpose(1, 2)},
      {"every second", x.repeat_interleave(2, 2).slice(2, 0, {}, 2)}};
  for (const auto& [name, other] : layouts) EXPECT_TRUE(close(layer->forward(other), y, 1e-6)) << name;
  const auto repeated = x.narrow(0, 0, 1).expand({3, 20, 12});
  EXPECT_TRUE(close(layer->forward(repeated), layer->forward(repeated.contiguous()), 1e-6)) << "expanded";
}

INSTANTIATE_TEST_SUITE_P(All, Batch, ::testing::ValuesIn(all_specs()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace synthesizer::testing
