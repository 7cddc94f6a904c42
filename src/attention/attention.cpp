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
    : torch::nn::Module("Attention"), mixer_(make_mixer(std::move(options))), tensors_(mixer_->initialise()) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Parameter& parameter = mixer_->parameters()[i];
    std::string name = parameter.name;
    torch::nn::Module& owner = owner_of(*this, name);
    tensors_[i] = parameter.trained ? owner.register_parameter(name, tensors_[i])
                                    : owner.register_buffer(name, tensors_[i]);
  }
}

at::Tensor AttentionImpl::forward(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias) {
  return mixer_->forward(tensors_, x, lengths, is_training(), bias);
}

at::Tensor AttentionImpl::weights(const at::Tensor& x, const at::Tensor& lengths,
                                  const at::Tensor& bias) const {
  return mixer_->weights(tensors_, x, lengths, bias);
}

void AttentionImpl::grow(int64_t max_length) {
  auto larger = make_mixer(mixer_->grown(max_length));
  const auto grown = synthesizer::grow(*mixer_, tensors_, *larger);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    tensors_[i].mutable_grad() = at::Tensor();
    tensors_[i].set_data(grown[i]);
  }
  mixer_ = std::move(larger);
}

void AttentionImpl::train(bool on) {
  torch::nn::Module::train(on);
  mixer_->forget();
}

std::shared_ptr<torch::nn::Module> AttentionImpl::clone(const std::optional<torch::Device>& device) const {
  auto copy = std::make_shared<AttentionImpl>(options());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    copy->tensors_[i].set_data(device
                                   ? tensors_[i].detach().to(*device, /*non_blocking=*/false, /*copy=*/true)
                                   : tensors_[i].detach().clone());
  }
  copy->train(is_training());
  return copy;
}

void AttentionImpl::pretty_print(std::ostream& stream) const {
  const AttentionOptions& o = options();
  stream << "synthesizer::Attention(" << short_spec(o.attention) << ", width=" << o.width
         << ", heads=" << o.heads << ", max_length=" << o.max_length << (o.causal ? ", causal" : "") << ")";
}

}  // namespace synthesizer
