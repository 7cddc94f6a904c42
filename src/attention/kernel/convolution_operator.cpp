// The convolution as the dispatcher sees it: schemas, kernels for CPU, Meta and the rest, and autograd.
//
//     synthesizer::convolve            what people call
//     synthesizer::convolve_backward   both gradients at once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>

#include "attention/kernel/convolution.h"
#include "attention/kernel/convolve.h"
#include "attention/kernel/registration.h"

namespace synthesizer {

using MaybeTensor = std::optional<at::Tensor>;

namespace kernel {
namespace {

// --- CPU, and any other device by plain ATen ---

bool vector_code_serves(const ConvolutionProblem& p) {
  return p.input.is_cpu() && p.input.scalar_type() != at::kDouble;
}

at::Tensor convolve_forward(const at::Tensor& input, const at::Tensor& weight, const MaybeTensor& lengths,
                            int64_t left) {
  const ConvolutionProblem p{input, weight, lengths.value_or(at::Tensor()), left};
  p.check();
  return vector_code_serves(p) ? vector_convolve(p) : plain_convolve(p);
}

ConvolutionGradients convolve_backward(const at::Tensor& grad, const at::Tensor& input,
                                       const at::Tensor& weight, const MaybeTensor& lengths, int64_t left,
                                       std::array<bool, 2> wanted) {
  const ConvolutionProblem p{input, weight, lengths.value_or(at::Tensor()), left};
  p.check();
  return vector_code_serves(p) ? vector_convolve_backward(p, grad, wanted)
                               : plain_convolve_backward(p, grad, wanted);
}

// --- Meta: shapes alone, which may be symbols. Results are contiguous, but for the gradient of the weight,
// which is laid out as the weight. ---

at::Tensor meta_convolve_forward(const at::Tensor& input, const at::Tensor&, const MaybeTensor&, int64_t) {
  return at::empty_symint(input.sym_sizes(), input.options());
}

ConvolutionGradients meta_convolve_backward(const at::Tensor&, const at::Tensor& input,
                                            const at::Tensor& weight, const MaybeTensor&, int64_t,
                                            std::array<bool, 2> wanted) {
  return {wanted[0] ? at::empty_symint(input.sym_sizes(), input.options()) : at::Tensor(),
          wanted[1] ? at::empty_like(weight) : at::Tensor()};
}

// --- Autograd ---

at::Tensor call(const at::Tensor& input, const at::Tensor& weight, const MaybeTensor& lengths, int64_t left) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("synthesizer::convolve", "")
                             .typed<decltype(convolve_forward)>();
  return op.call(input, weight, lengths, left);
}

class ConvolveFunction : public torch::autograd::Function<ConvolveFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight, const MaybeTensor& lengths, int64_t left) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({input, weight, lengths.value_or(at::Tensor())});
    context->saved_data["left"] = left;
    return call(input, weight, lengths, left);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("synthesizer::convolve_backward", "")
                               .typed<decltype(kernel::convolve_backward)>();
    const auto saved = context->get_saved_variables();
    const auto [input, weight] = op.call(
        grads[0], saved[0], saved[1], saved[2].defined() ? MaybeTensor(saved[2]) : std::nullopt,
        context->saved_data["left"].toInt(), {context->needs_input_grad(0), context->needs_input_grad(1)});
    return {input, weight, at::Tensor(), at::Tensor()};
  }
};

at::Tensor autograd_forward(const at::Tensor& input, const at::Tensor& weight, const MaybeTensor& lengths,
                            int64_t left) {
  return ConvolveFunction::apply(input, weight, lengths, left);
}

void define_convolve(torch::Library& m) {
  m.def("convolve(Tensor input, Tensor weight, Tensor? lengths, int left) -> Tensor");
  m.def(
      "convolve_backward(Tensor grad, Tensor input, Tensor weight, Tensor? lengths, int left, "
      "bool[2] wanted) -> (Tensor, Tensor)");
}

void add_convolve(torch::Library& m) {
  m.impl("convolve", TORCH_FN(convolve_forward));
  m.impl("convolve_backward", TORCH_FN(convolve_backward));
}

void add_meta_convolve(torch::Library& m) {
  m.impl("convolve", TORCH_FN(meta_convolve_forward));
  m.impl("convolve_backward", TORCH_FN(meta_convolve_backward));
}

void add_autograd_convolve(torch::Library& m) {
  m.impl("convolve", TORCH_FN(autograd_forward));
  // Differentiable once: a second derivative is refused instead of coming out as nothing.
  m.impl("convolve_backward", torch::autograd::autogradNotImplementedFallback());
}

const Registration convolve_registration("synthesizer::convolve", define_convolve,
                                         {{c10::DispatchKey::CPU, add_convolve},
                                          {c10::DispatchKey::CompositeExplicitAutograd,
                                           add_convolve},  // plain, any device
                                          {c10::DispatchKey::Meta, add_meta_convolve},
                                          {c10::DispatchKey::Autograd, add_autograd_convolve}});

}  // namespace
}  // namespace kernel

at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& lengths,
                    int64_t left) {
  return kernel::call(input, weight, lengths.defined() ? MaybeTensor(lengths) : std::nullopt, left);
}

}  // namespace synthesizer
