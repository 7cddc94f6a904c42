// The convolution against loops in double: result and both gradients, whatever the sizes, lengths and layout.

#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include "attention/kernel/convolve.h"
#include "attention/layers.h"
#include "base/error.h"

namespace synthesizer::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Heads and widths below, at and above whole vectors of 4, 8 and 16, and more rows than a block has.
struct ConvolutionSizes {
  int64_t batch, rows, heads, width, taps, left;
  bool shared;
};

std::vector<ConvolutionSizes> convolution_sizes() {
  const std::tuple<int64_t, int64_t> head_sizes[] = {{1, 1},  {3, 5},   {2, 8},  {1, 17}, {2, 32},
                                                     {1, 67}, {2, 100}, {19, 1}, {67, 1}};
  std::vector<ConvolutionSizes> all;
  for (const auto& [heads, width] : head_sizes) {
    for (bool shared : {false, true}) {
      all.push_back({2, 7, heads, width, 3, 1, shared});
      all.push_back({2, 5, heads, width, 4, 3, shared});
      all.push_back({1, 4, heads, width, 9, 8, shared});
      all.push_back({1, 3, heads, width, 15, 7, shared});
    }
  }
  for (bool shared : {false, true}) {
    all.push_back({1, 1, 2, 4, 1, 0, shared});
    all.push_back({3, 70, 2, 8, 7, 6, shared});
    all.push_back({2, 65, 2, 8, 31, 15, shared});
    all.push_back({2, 40, 2, 8, 5, 0, shared});
  }
  return all;
}

struct ConvolutionInputs {
  at::Tensor input, weight, lengths, grad;
};

ConvolutionInputs convolution_inputs(const ConvolutionSizes& s, bool padded,
                                     at::ScalarType dtype = at::kFloat) {
  const at::Tensor weight =
      s.shared ? noise({s.heads, s.taps}, 2, dtype) : noise({s.batch, s.rows, s.heads, s.taps}, 2, dtype);
  return {noise({s.batch, s.rows, s.heads * s.width}, 1, dtype), weight,
          padded ? some_lengths(s.batch, s.rows) : at::Tensor(),
          noise({s.batch, s.rows, s.heads * s.width}, 3, dtype)};
}

struct Convolved {
  at::Tensor result, input, weight;
};

Convolved convolved(const ConvolutionInputs& given, int64_t left) {
  const auto input = given.input.detach().requires_grad_(), weight = given.weight.detach().requires_grad_();
  const auto result = convolve(input, weight, given.lengths, left);
  result.backward(given.grad);
  return {result.detach(), input.grad(), weight.grad()};
}

/// The formula and its derivatives, one product after another.
Convolved by_loops(const ConvolutionSizes& s, const ConvolutionInputs& given) {
  const auto input = given.input.to(at::kDouble), grad = given.grad.to(at::kDouble);
  const auto weight = (s.shared ? given.weight.expand({s.batch, s.rows, s.heads, s.taps}) : given.weight)
                          .to(at::kDouble)
                          .contiguous();
  auto result = at::zeros_like(input), d_input = at::zeros_like(input), d_weight = at::zeros_like(weight);
  const auto x = input.accessor<double, 3>(), dy = grad.accessor<double, 3>();
  const auto w = weight.accessor<double, 4>();
  auto y = result.accessor<double, 3>(), dx = d_input.accessor<double, 3>();
  auto dw = d_weight.accessor<double, 4>();
  for (int64_t b = 0; b < s.batch; ++b) {
    const int64_t length = given.lengths.defined() ? given.lengths[b].item<int64_t>() : s.rows;
    for (int64_t i = 0; i < length; ++i) {
      for (int64_t t = 0; t < s.taps; ++t) {
        const int64_t j = i + t - s.left;
        if (j < 0 || j >= length) continue;
        for (int64_t c = 0; c < s.heads * s.width; ++c) {
          const int64_t h = c / s.width;
          y[b][i][c] += w[b][i][h][t] * x[b][j][c];
          dx[b][j][c] += w[b][i][h][t] * dy[b][i][c];
          dw[b][i][h][t] += x[b][j][c] * dy[b][i][c];
        }
      }
    }
  }
  return {result, d_input, s.shared ? d_weight.sum({0, 1}) : d_weight};
}

void expect_convolved(const Convolved& actual, const Convolved& expected, double allowed,
                      const ConvolutionSizes& s) {
  const auto what = ::testing::Message()
                    << s.batch << " samples of " << s.rows << ", " << s.heads << " heads of " << s.width
                    << ", " << s.taps << " taps, " << s.left << " left" << (s.shared ? ", shared" : "");
  EXPECT_TRUE(close(actual.result, expected.result, allowed, 1)) << what;
  EXPECT_TRUE(close(actual.input, expected.input, allowed, 1)) << what << ", gradient of the input";
  EXPECT_TRUE(close(actual.weight, expected.weight, allowed, 1)) << what << ", gradient of the weight";
}

TEST(Convolve, equals_loops) {
  for (const ConvolutionSizes& s : convolution_sizes()) {
    for (bool padded : {false, true}) {
      const ConvolutionInputs given = convolution_inputs(s, padded);
      expect_convolved(convolved(given, s.left), by_loops(s, given), 2e-6, s);
    }
  }
}

TEST(Convolve, equals_loops_in_other_dtypes) {
  for (const ConvolutionSizes& s : convolution_sizes()) {
    const ConvolutionInputs wide = convolution_inputs(s, true, at::kDouble),
                            narrow = convolution_inputs(s, true, at::kBFloat16);
    expect_convolved(convolved(wide, s.left), by_loops(s, wide), 1e-13, s);
    expect_convolved(convolved(narrow, s.left), by_loops(s, narrow), 1e-2, s);
  }
}

TEST(Convolve, gives_the_same_bits_with_any_number_of_threads) {
  const int before = at::get_num_threads();
  for (bool shared : {false, true}) {
    const ConvolutionSizes s{5, 100, 2, 12, 7, 6, shared};
    const ConvolutionInputs given = convolution_inputs(s, true);
    at::set_num_threads(1);
    const Convolved alone = convolved(given, s.left);
    for (int threads : {2, 3, 7}) {
      at::set_num_threads(threads);
      const Convolved many = convolved(given, s.left);
      EXPECT_TRUE(same_bits(many.result, alone.result)) << threads;
      EXPECT_TRUE(same_bits(many.input, alone.input)) << threads;
      EXPECT_TRUE(same_bits(many.weight, alone.weight)) << threads;
    }
  }
  at::set_num_threads(before);
}

TEST(Convolve, takes_any_layout) {
  const ConvolutionSizes s{2, 9, 2, 6, 5, 2, false};
  ConvolutionInputs given = convolution_inputs(s, false), strided = given;
  strided.input = noise({2, 12, 9}, 1).copy_(given.input.transpose(1, 2)).transpose(1, 2);
  strided.weight = noise({5, 2, 9, 2}, 1).copy_(given.weight.permute({3, 2, 1, 0})).permute({3, 2, 1, 0});
  strided.grad = at::ones({1, 1, 1}).expand({2, 9, 12});
  given.grad = at::ones({2, 9, 12});
  strided.lengths = at::tensor({9, 0, 9, 0}, at::kLong).slice(0, 0, 4, 2);
  given.lengths = at::tensor({9, 9}, at::kLong);
  const Convolved actual = convolved(strided, s.left), expected = convolved(given, s.left);
  EXPECT_TRUE(same_bits(actual.result, expected.result));
  EXPECT_TRUE(same_bits(actual.input.contiguous(), expected.input));
  EXPECT_TRUE(same_bits(actual.weight.contiguous(), expected.weight));
}

TEST(Convolve, ignores_what_padding_holds) {
  for (bool shared : {false, true}) {
    const ConvolutionSizes s{2, 9, 2, 6, 5, 2, shared};
    ConvolutionInputs given = convolution_inputs(s, false), strange = given;
    given.lengths = strange.lengths = at::tensor({9, 4}, at::kLong);
    strange.input = given.input.clone();
    strange.grad = given.grad.clone();
    strange.input[1].narrow(0, 4, 5).fill_(std::nan(""));
    strange.grad[1].narrow(0, 4, 5).fill_(std::nan(""));
    if (!shared) (strange.weight = given.weight.clone())[1].narrow(0, 4, 5).fill_(std::nan(""));
    const Convolved actual = convolved(strange, s.left), expected = convolved(given, s.left);
    EXPECT_TRUE(same_bits(actual.result, expected.result));
    EXPECT_TRUE(same_bits(actual.input, expected.input));
    EXPECT_TRUE(same_bits(actual.weight, expected.weight));
  }
}

TEST(Convolve, takes_nothing) {
  EXPECT_EQ(convolve(at::zeros({0, 3, 4}), at::ones({2, 3}), {}, 1).numel(), 0);
  EXPECT_EQ(convolve(at::zeros({2, 0, 4}), at::ones({2, 3}), {}, 1).numel(), 0);
  const auto weight = at::ones({2, 3}).requires_grad_();
  convolve(at::zeros({2, 0, 4}), weight, {}, 1).sum().backward();
  EXPECT_EQ(weight.grad().abs().sum().item<double>(), 0);
}

TEST(Convolve, refuses_what_does_not_fit) {
  const auto x = noise({2, 5, 6}, 1), w = noise({2, 3}, 2);
  auto refused = [](const at::Tensor& input, const at::Tensor& weight, int64_t left, const std::string& words,
                    const at::Tensor& lengths = {}) {
    EXPECT_THAT([&] { convolve(input, weight, lengths, left); },
                ThrowsMessage<InvalidInput>(HasSubstr(words)));
  };
  refused(x[0], w, 1, "input has shape 5×6: it must be batch×length×width");
  refused(x, noise({2, 5, 3}, 1), 1, "weight has shape 2×5×3");
  refused(x, noise({2, 4, 2, 3}, 1), 1, "it must begin with batch and length");
  refused(x, noise({4, 3}, 1), 1, "4 heads of 3 taps for width 6");
  refused(x, noise({2, 0}, 1), 0, "2 heads of 0 taps");
  refused(x, w, 3, "left is 3: it must be from 0 to 2");
  refused(x, w, -1, "left is -1: it must be from 0 to 2");
  refused(x, w.to(at::kDouble), 1, "weight has dtype Double and input Float");
  refused(x.to(at::kInt), w, 1, "input has dtype Int");
  refused(x, w, 1, "lengths[1] is 6: it must be from 0 to 5", at::tensor({1, 6}, at::kLong));
}

}  // namespace
}  // namespace synthesizer::testing
