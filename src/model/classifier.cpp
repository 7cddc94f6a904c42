#include "model/classifier.h"

#include <ATen/ATen.h>

#include "model/dropout.h"
#include "model/forward_hook.h"

namespace synthesizer {

Classifier::Classifier(const ModelOptions& options, int64_t vocabulary, int64_t classes)
    : mean_(options.pooling == Pooling::mean), dropout_(options.dropout) {
  embedding_ = register_module("embedding", std::make_shared<Embedding>(options, vocabulary));
  encoder_ = register_module("encoder", std::make_shared<Stack>(options, Side::encoder, false));
  classes_ =
      register_module("classes", std::make_shared<Linear>(options.width, classes, options.output_bias));
  if (options.pooling == Pooling::first_tanh) {
    pooler_ = register_module("pooler", std::make_shared<Linear>(options.width, options.width, options.bias));
  }
}

at::Tensor Classifier::forward(const at::Tensor& tokens, const at::Tensor& lengths) {
  const auto hidden = encoder_->forward(embedding_->forward(tokens), lengths);  // B×L×D
  at::Tensor pooled;
  if (!mean_) {
    pooled = hidden.select(1, 0);
    if (pooler_) pooled = at::tanh(pooler_->forward(pooled));
  } else if (!lengths.defined()) {
    pooled = hidden.mean(1);
  } else {
    const auto real = at::arange(tokens.size(1), at::kLong).lt(lengths.unsqueeze(1));  // B×L
    pooled = (hidden * real.unsqueeze(2)).sum(1) / lengths.unsqueeze(1).to(hidden.scalar_type());
  }
  return call_forward_hook("encoder", "pooled", drop_out(pooled, dropout_, is_training()));
}

}  // namespace synthesizer
