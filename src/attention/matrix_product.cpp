#include "attention/matrix_product.h"

#include <ATen/ATen.h>
#include <ATen/SequenceNumber.h>
#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/TracerMode.h>
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "attention/kernel/packed_product.h"
#include "attention/matrix_of.h"
#include "base/error.h"
#include "runtime/processor.h"

namespace synthesizer {
namespace {

constexpr int64_t kLeast = 16;  // rows, columns and inner size; below, packing costs more than it saves

std::atomic<Products>& products() {
  static std::atomic<Products> chosen = default_products();
  return chosen;
}

/// Numbers in memory and nothing else: no proxy of a tracer, compiler or transformation, which must see the
/// operator.
bool is_plain(const at::Tensor& t) {
  return t.is_cpu() && t.scalar_type() == at::kFloat && t.layout() == at::kStrided && !t.is_neg() &&
         !at::isTensorSubclassLike(t);
}

bool transformed() {
  return at::tracer::impl::is_dispatch_enabled() || at::autocast::is_autocast_enabled(at::kCPU);
}

/// As the kernel takes it: one of the strides is 1.
at::Tensor laid_out(const at::Tensor& t) {
  const bool rows = t.stride(1) == 1 && t.stride(0) >= t.size(1),
             columns = t.stride(0) == 1 && t.stride(1) >= t.size(0);
  return rows || columns ? t : t.contiguous();
}

at::Tensor own_product(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias) {
  const auto left = laid_out(a), right = laid_out(b);
  const auto start = bias.defined() ? bias.contiguous() : bias;
  auto y = at::empty({a.size(0), b.size(0)}, a.options());
  kernel::multiply_rows(matrix_of(left), matrix_of(right).transposed(),
                        {.bias = bias.defined() ? start.const_data_ptr<float>() : nullptr}, matrix_of(y));
  return y;
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class OwnProduct : public torch::autograd::Function<OwnProduct> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& a, const at::Tensor& b,
                            const std::optional<at::Tensor>& bias) {
    context->save_for_backward({a, b});
    context->saved_data["bias"] = bias.has_value();
    return own_product(a, b, bias.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &slope = slopes[0], &a = saved[0], &b = saved[1];
    variable_list gradients(3);
    if (context->needs_input_grad(0)) gradients[0] = matrix_product(slope, b.t());
    if (context->needs_input_grad(1)) gradients[1] = matrix_product(slope.t(), a.t());
    if (context->saved_data["bias"].toBool() && context->needs_input_grad(2)) gradients[2] = slope.sum(0);
    return gradients;
  }
};

}  // namespace

Products default_products() {
  if (const char* wish = std::getenv("SYNTHESIZER_PRODUCTS")) {
    if (wish == std::string_view("own")) return Products::own;
    if (wish == std::string_view("libtorch")) return Products::libtorch;
    invalid("SYNTHESIZER_PRODUCTS is neither own nor libtorch");
  }
  return is_amd_with_avx512() ? Products::own : Products::libtorch;
}

UseProducts::UseProducts(Products chosen) : before_(products().exchange(chosen)) {}

UseProducts::~UseProducts() {
  products() = before_;
}

bool has_own_product(const at::Tensor& a, const at::Tensor& b) {
  if (products() != Products::own || !is_plain(a) || !is_plain(b) || transformed()) return false;
  const int64_t inner = b.size(1);
  return inner >= kLeast && b.size(0) >= kLeast && a.numel() >= kLeast * inner;
}

at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias) {
  if (!has_own_product(a, b) || (bias.defined() && !is_plain(bias))) return at::linear(a, b, bias);
  if (!c10::GradMode::is_enabled()) return own_product(a, b, bias);
  RECORD_FUNCTION("synthesizer::matrix_product", c10::ArrayRef<c10::IValue>(), at::sequence_number::peek());
  return OwnProduct::apply(a, b, bias.defined() ? std::optional(bias) : std::nullopt);
}

void add_matrix_product(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  if (has_own_product(a, b) && is_plain(sum) && sum.is_contiguous()) {
    kernel::multiply_rows(matrix_of(laid_out(a)), matrix_of(laid_out(b)).transposed(), {.there = true},
                          matrix_of(sum));
  } else {
    sum.addmm_(a, b.t());
  }
}

}  // namespace synthesizer
