#include "model/activation.h"

#include <ATen/ATen.h>
#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "attention/kernel/attend.h"
#include "attention/linear_map.h"
#include "attention/matrix_product.h"
#include "model/dropout.h"
#include "model/optional_tensor.h"

namespace synthesizer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kGeluTanh = "tanh";

at::Tensor act(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::relu:
    case Activation::gated_relu: return at::relu(x);
    case Activation::gelu:
    case Activation::gated_gelu: return at::gelu(x);
    case Activation::gelu_tanh:
    case Activation::gated_gelu_tanh: return at::gelu(x, kGeluTanh);
    case Activation::swish: break;
  }
  return at::silu(x);
}

/// The gradient with respect to x of act(x), whose own gradient is `slope`.
at::Tensor act_backward(const at::Tensor& slope, const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::relu:
    case Activation::gated_relu: return at::threshold_backward(slope, x, 0);
    case Activation::gelu:
    case Activation::gated_gelu: return at::gelu_backward(slope, x);
    case Activation::gelu_tanh:
    case Activation::gated_gelu_tanh: return at::gelu_backward(slope, x, kGeluTanh);
    case Activation::swish: break;
  }
  return at::silu_backward(slope, x);
}

at::Tensor as_rows(const at::Tensor& x) {
  return x.reshape({-1, x.size(-1)});
}

class MapActivated : public torch::autograd::Function<MapActivated> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& in,
                            const std::optional<at::Tensor>& gate, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, int64_t activation, double dropout,
                            int64_t seed) {
    context->save_for_backward({in, gate.value_or(at::Tensor()), weight});
    context->saved_data["activation"] = activation;
    context->saved_data["dropout"] = dropout;
    context->saved_data["seed"] = seed;
    context->saved_data["bias"] = bias.has_value();
    const Activated h{static_cast<Activation>(activation), in, gate.value_or(at::Tensor())};
    return linear_map(dropped(activate(h), dropout, seed), weight, bias.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const auto saved = context->get_saved_variables();
    const auto activation = static_cast<Activation>(context->saved_data["activation"].toInt());
    const double dropout = context->saved_data["dropout"].toDouble();
    const int64_t seed = context->saved_data["seed"].toInt();
    const at::Tensor &in = saved[0], &gate = saved[1], &weight = saved[2];
    const auto dtype = in.scalar_type();  // below that of the weight under autocast

    const auto slope = as_rows(slopes[0]).to(dtype);
    at::Tensor weight_slope, bias_slope;
    if (weight.requires_grad()) {
      const auto h = as_rows(dropped(activate({activation, in, gate}), dropout, seed));
      weight_slope = matrix_product(slope.t(), h.t()).to(weight.scalar_type());
    }
    if (context->saved_data["bias"].toBool()) bias_slope = slope.sum(0, false, weight.scalar_type());
    auto h_slope = matrix_product(slope, weight.to(dtype).t()).view(in.sizes());
    h_slope = dropped(h_slope, dropout, seed);
    if (!gate.defined())
      return {act_backward(h_slope, in, activation), {}, weight_slope, bias_slope, {}, {}, {}};
    return {h_slope * act(gate, activation),
            act_backward(h_slope * in, gate, activation),
            weight_slope,
            bias_slope,
            {},
            {},
            {}};
  }

 private:
  static at::Tensor dropped(const at::Tensor& x, double probability, int64_t seed) {
    return probability > 0 ? drop_out_with_seed(x, probability, seed) : x;
  }
};

}  // namespace

bool is_gated(Activation activation) {
  return activation == Activation::gated_relu || activation == Activation::gated_gelu ||
         activation == Activation::gated_gelu_tanh;
}

at::Tensor activate(const Activated& h) {
  return h.gate.defined() ? act(h.gate, h.activation) * h.in : act(h.in, h.activation);
}

at::Tensor map_activated(const Activated& h, double dropout, const at::Tensor& weight,
                         const at::Tensor& bias) {
  RECORD_FUNCTION("synthesizer::map_activated", c10::ArrayRef<c10::IValue>(), at::sequence_number::peek());
  return MapActivated::apply(h.in, if_defined(h.gate), weight, if_defined(bias),
                             static_cast<int64_t>(h.activation), dropout, dropout > 0 ? draw_seed() : 0);
}

}  // namespace synthesizer
