#include "model/recompute.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <mutex>

#include "model/optional_tensor.h"

namespace synthesizer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Autocast as it is now, to be had again later. Its cache of converted weights stays out of it: a weight
/// converted in one pass has no gradient in the other.
class AutocastState {
 public:
  AutocastState()
      : enabled_(at::autocast::is_autocast_enabled(at::kCPU)),
        cached_(at::autocast::is_autocast_cache_enabled()),
        dtype_(at::autocast::get_autocast_dtype(at::kCPU)) {}
  void set() const {
    at::autocast::set_autocast_enabled(at::kCPU, enabled_);
    at::autocast::set_autocast_dtype(at::kCPU, dtype_);
    at::autocast::set_autocast_cache_enabled(cached_);
  }
  AutocastState without_cache() const {
    AutocastState same = *this;
    same.cached_ = false;
    return same;
  }

 private:
  bool enabled_, cached_;
  at::ScalarType dtype_;
};

/// Autocast and random numbers of another time, for as long as it lives; without a state of the random
/// numbers they go on as they are.
class Surroundings {
 public:
  Surroundings(const AutocastState& autocast, const at::Tensor& random_state) {
    autocast.without_cache().set();
    if (!random_state.defined()) return;
    before_ = current_random_state();
    set(random_state);
  }
  ~Surroundings() {
    autocast_before_.set();
    if (before_.defined()) set(before_);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  static at::Tensor current_random_state() {
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    return generator.get_state();
  }

 private:
  static void set(const at::Tensor& state) {
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_state(state);
  }

  AutocastState autocast_before_;
  at::Tensor before_;
};

/// What the backward pass needs besides tensors.
struct Recomputation : torch::CustomClassHolder {
  LayerFunction layer;
  AutocastState autocast;
};

/// An input of the layer, cut off from the graph that it came from.
at::Tensor as_leaf(const at::Tensor& t) {
  return t.defined() ? t.detach().set_requires_grad(t.requires_grad()) : t;
}

class Recompute : public torch::autograd::Function<Recompute> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& encoded,
                            const c10::intrusive_ptr<Recomputation>& again) {
    context->save_for_backward({x, bias.value_or(at::Tensor()), encoded.value_or(at::Tensor())});
    context->saved_data["again"] = c10::IValue::make_capsule(again);
    context->saved_data["random_state"] = Surroundings::current_random_state();
    const Surroundings surroundings(again->autocast, {});
    // With gradients, as it will be computed again: whatever chooses a path by them chooses the same.
    at::AutoGradMode gradients(true);
    return again
        ->layer(as_leaf(x), as_leaf(bias.value_or(at::Tensor())), as_leaf(encoded.value_or(at::Tensor())))
        .detach();
  }

  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const auto saved = context->get_saved_variables();
    const auto again =
        c10::static_intrusive_pointer_cast<Recomputation>(context->saved_data["again"].toCapsule());
    variable_list inputs;
    for (const at::Tensor& t : saved) inputs.push_back(as_leaf(t));
    {
      const Surroundings surroundings(again->autocast, context->saved_data["random_state"].toTensor());
      at::AutoGradMode gradients(true);
      const auto y = again->layer(inputs[0], inputs[1], inputs[2]);
      torch::autograd::backward({y}, {slopes[0]});  // adds to the gradients of the layer's parameters
    }
    variable_list found;
    for (const at::Tensor& t : inputs) found.push_back(t.defined() ? t.grad() : at::Tensor());
    found.emplace_back();  // of `again`
    return found;
  }
};

}  // namespace

at::Tensor recompute_in_backward(LayerFunction layer, const at::Tensor& x, const at::Tensor& bias,
                                 const at::Tensor& encoded) {
  auto again = c10::make_intrusive<Recomputation>();
  again->layer = std::move(layer);
  return Recompute::apply(x, if_defined(bias), if_defined(encoded), again);
}

}  // namespace synthesizer
