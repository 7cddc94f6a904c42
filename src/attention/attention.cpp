#include "attention/attention.h"

#include <ATen/ATen.h>

#include "attention/spec.h"

namespace synthesizer {
namespace {

/// The module that owns "a.b.weight": walks a and b below the root, making what is missing.
torch::nn::Module& owner_of(torch::nn::Module& root, std::string& name) {
  torch::nn::Module* owner = &root;
  for (size_t dot; (dot = name.find('.')) != std::string::npos; name.erase(0, dot + 1)) {
    const std::string part = name.substr(0, dot);
    const auto children = owner->named_children();
    owner = children.contains(part)
                ? children[part].get()
                : owner->register_module(part, std::make_shared<torch::nn::Module>(part)).get();
  }
  return *owner;
}

}  // namespace

AttentionImpl::AttentionImpl(AttentionOptions options)
    : DeclaredModule("Attention"),
      mixer_(make_mixer(std::move(options))),
      weights_{mixer_->initialise(), {}, {}} {
  auto& tensors = weights_.tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Parameter& parameter = mixer_->parameters()[i];
    std::string name = parameter.name;
    torch::nn::Module& owner = owner_of(*this, name);
    tensors[i] = parameter.trained ? owner.register_parameter(name, tensors[i])
                                   : owner.register_buffer(name, tensors[i]);
  }
}

at::Tensor AttentionImpl::forward(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias,
                                  const at::Tensor& mask) const {
  return mixer_->forward(weights_, x, lengths, is_training(), bias, mask);
}

at::Tensor AttentionImpl::weights(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias,
                                  const at::Tensor& mask) const {
  return mixer_->weights(weights_, x, lengths, bias, mask);
}

void AttentionImpl::grow(int64_t max_length) {
  if (weights_.prepared())
    invalid("a layer prepared for inference cannot grow: grow the one it was made from");
  auto larger = make_mixer(mixer_->grown(max_length));
  const auto grown = synthesizer::grow(*mixer_, weights_.tensors, *larger);
  for (size_t i = 0; i < grown.size(); ++i) {
    weights_.tensors[i].mutable_grad() = at::Tensor();
    weights_.tensors[i].set_data(grown[i]);
  }
  mixer_ = std::move(larger);
}

void AttentionImpl::prepare() {
  eval();
  // The registered handles stay: the forms are all that changes.
  const LayerWeights ready = mixer_->prepare(weights_);
  weights_.forms = ready.forms;
  weights_.precomputed_weights = ready.precomputed_weights;
}

MatrixFormPtr& AttentionImpl::form(size_t n) {
  weights_.forms.resize(weights_.tensors.size());
  return weights_.forms[n];
}

std::shared_ptr<torch::nn::Module> AttentionImpl::clone(const std::optional<torch::Device>& device) const {
  auto copy = std::make_shared<AttentionImpl>(options());
  for (size_t i = 0; i < tensors().size(); ++i) {
    const auto tensor = tensors()[i].detach();
    copy->weights_.tensors[i].set_data(device ? tensor.to(*device, /*non_blocking=*/false, /*copy=*/true)
                                              : tensor.clone());
  }
  copy->weights_.forms = weights_.forms;  // immutable, like what follows
  copy->weights_.precomputed_weights = weights_.precomputed_weights;
  copy->train(is_training());
  return copy;
}

void AttentionImpl::pretty_print(std::ostream& stream) const {
  const AttentionOptions& o = options();
  stream << "synthesizer::Attention(" << short_spec(o.attention) << ", width=" << o.width
         << ", heads=" << o.heads << ", max_length=" << o.max_length << (o.causal ? ", causal" : "") << ")";
}

}  // namespace synthesizer
