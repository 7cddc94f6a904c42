// The product of training, by the kernel and by LibTorch: the formula in double precision, its gradients and
// theirs, any layout, and who makes it.

#include "attention/matrix_product.h"

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstdlib>

#include "attention/layers.h"
#include "attention/linear_map.h"
#include "base/error.h"

namespace synthesizer {
namespace {

using torch::autograd::grad;

struct Sizes {
  int64_t rows, inner, columns;
};
// Around the sizes at which something begins: strips, panels, chunks of 48 rows, tasks of 64 and 256 columns,
// parts of 512 inner numbers.
const Sizes kSizes[] = {{16, 16, 16},  {17, 31, 33},   {48, 64, 64},  {49, 65, 129},
                        {97, 511, 70}, {50, 1030, 40}, {300, 20, 700}};

at::Tensor doubled(const at::Tensor& t) {
  return t.to(at::kDouble);
}

/// The same numbers, lying otherwise: 0 as they are, 1 column after column, 2 with gaps between rows, 3 both,
/// 4 with gaps between all numbers.
at::Tensor lying(const at::Tensor& t, int layout) {
  const auto wide = at::full({t.size(0) + 3, t.size(1) + 5}, 1e30, t.options());
  switch (layout) {
    case 1: return t.t().contiguous().t();
    case 2: return wide.narrow(0, 0, t.size(0)).narrow(1, 0, t.size(1)).copy_(t);
    case 3: return lying(t.t(), 2).t();
    case 4: return at::stack({t, t}, 2).select(2, 0);
    default: return t;
  }
}

TEST(MatrixProduct, EqualsTheFormulaInAnyLayout) {
  const UseProducts own(Products::own);
  for (const auto& [rows, inner, columns] : kSizes) {
    const auto a = testing::noise({rows, inner}, 1), b = testing::noise({columns, inner}, 2);
    const auto bias = testing::noise({columns}, 3);
    const auto exact = at::matmul(doubled(a), doubled(b).t());
    for (int layout = 0; layout < 25; ++layout) {
      const auto left = lying(a, layout % 5), right = lying(b, layout / 5);
      ASSERT_TRUE(has_own_product(left, right));
      EXPECT_TRUE(testing::close(matrix_product(left, right), exact, 1e-6, 1))
          << rows << " layout " << layout;
      EXPECT_TRUE(testing::close(matrix_product(left, right, bias), exact + doubled(bias), 1e-6, 1));
      auto sum = at::ones({rows, columns});
      add_matrix_product(sum, left, right);
      EXPECT_TRUE(testing::close(sum, exact + 1, 1e-6, 1)) << rows << " layout " << layout;
    }
  }
}

TEST(MatrixProduct, ARowDoesNotDependOnTheOthers) {
  const UseProducts own(Products::own);
  const auto a = testing::noise({100, 600}, 1), b = testing::noise({70, 600}, 2);
  const auto all = matrix_product(a, b);
  for (const auto& [begin, count] : {std::pair{0, 16}, {3, 50}, {84, 16}})
    EXPECT_TRUE(
        testing::same_bits(matrix_product(a.narrow(0, begin, count), b), all.narrow(0, begin, count)));
}

/// A weighted sum, so that each entry has a slope of its own.
at::Tensor weighted(const at::Tensor& y) {
  return (y * testing::noise(y.sizes(), 9, y.scalar_type())).sum();
}

TEST(MatrixProduct, GradientsAndTheirGradientsAreThoseOfTheFormula) {
  const UseProducts own(Products::own);
  for (const bool with_bias : {false, true}) {
    auto slopes = [&](at::ScalarType dtype) {  // in double precision LibTorch computes
      const auto a = testing::noise({20, 33}, 1).to(dtype).requires_grad_();
      const auto b = testing::noise({18, 33}, 2).to(dtype).requires_grad_();
      const auto bias = with_bias ? testing::noise({18}, 3).to(dtype).requires_grad_() : at::Tensor();
      std::vector<at::Tensor> inputs = {a, b};
      if (with_bias) inputs.push_back(bias);
      auto all = grad({weighted(at::tanh(matrix_product(a, b, bias) / 8))}, inputs, {}, true, true);
      for (const auto& second : grad({weighted(all[0]) + weighted(all[1])}, {a, b})) all.push_back(second);
      return all;
    };
    const auto actual = slopes(at::kFloat), exact = slopes(at::kDouble);
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(testing::close(actual[i], exact[i], 1e-5)) << i;
  }
}

TEST(MatrixProduct, OnlyWhatIsAskedForHasAGradient) {
  const UseProducts own(Products::own);
  const auto a = testing::noise({20, 33}, 1), b = testing::noise({18, 33}, 2).requires_grad_();
  const auto y = matrix_product(a, b);
  y.sum().backward();  // whose slope is one number in memory
  EXPECT_FALSE(a.grad().defined());
  EXPECT_TRUE(testing::close(b.grad(), doubled(a).sum(0).expand({18, 33}), 1e-6));
  EXPECT_FALSE(matrix_product(a, b.detach()).requires_grad());
}

TEST(MatrixProduct, ShowsWhatIsNotFinite) {
  const UseProducts own(Products::own);
  auto a = testing::noise({30, 40}, 1), b = testing::noise({50, 40}, 2);
  a[3][7] = std::nan("");
  a[12][0] = INFINITY;
  b[20][5] = -INFINITY;
  b[21] = 0;
  const auto y = matrix_product(a, b), wanted = at::linear(a, b);
  EXPECT_TRUE(at::equal(y.isnan(), wanted.isnan()));
  EXPECT_TRUE(at::equal(y.isinf(), wanted.isinf()));
}

TEST(MatrixProduct, LibtorchMakesTheOthers) {
  const UseProducts own(Products::own);
  const auto a = testing::noise({20, 32}, 1), b = testing::noise({24, 32}, 2);
  EXPECT_TRUE(has_own_product(a, b));
  EXPECT_TRUE(has_own_product(testing::noise({2, 10, 32}, 1), b));
  EXPECT_FALSE(has_own_product(a.narrow(0, 0, 3), b));
  EXPECT_FALSE(has_own_product(a, b.narrow(0, 0, 2)));
  EXPECT_FALSE(has_own_product(a.to(at::kDouble), b.to(at::kDouble)));
  EXPECT_FALSE(has_own_product(a.to("meta"), b.to("meta")));
  EXPECT_TRUE(testing::close(matrix_product(a.to(at::kBFloat16), b.to(at::kBFloat16)),
                             at::matmul(doubled(a), doubled(b).t()), 0.02));
  at::autocast::set_autocast_enabled(at::kCPU, true);
  EXPECT_FALSE(has_own_product(a, b));
  at::autocast::set_autocast_enabled(at::kCPU, false);
  const UseProducts libtorch(Products::libtorch);
  EXPECT_FALSE(has_own_product(a, b));
  EXPECT_TRUE(testing::same_bits(matrix_product(a, b), at::linear(a, b)));
}

TEST(MatrixProduct, LinearMapsUseIt) {
  const UseProducts own(Products::own);
  const auto x = testing::noise({3, 40, 32}, 1), weight = testing::noise({24, 32}, 2),
             bias = testing::noise({24}, 3);
  EXPECT_TRUE(testing::same_bits(linear_map(x, weight, bias).view({120, 24}),
                                 matrix_product(x.view({120, 32}), weight, bias)));
  EXPECT_TRUE(at::equal(linear_map(at::empty({0, 5, 32}), weight), at::empty({0, 5, 24})));
  EXPECT_TRUE(testing::close(linear_map(x[0][0], weight, bias),
                             at::linear(doubled(x[0][0]), doubled(weight), doubled(bias)), 1e-6));
}

TEST(MatrixProduct, TheUserMayChoose) {
  const char* name = "SYNTHESIZER_PRODUCTS";
  const char* before = std::getenv(name);
  const std::string kept = before ? before : "";
  setenv(name, "own", 1);
  EXPECT_EQ(default_products(), Products::own);
  setenv(name, "libtorch", 1);
  EXPECT_EQ(default_products(), Products::libtorch);
  setenv(name, "mkl", 1);
  EXPECT_THROW(default_products(), InvalidInput);
  before ? setenv(name, kept.c_str(), 1) : unsetenv(name);
}

}  // namespace
}  // namespace synthesizer
