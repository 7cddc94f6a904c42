#include "model/encoder_decoder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "model/decoder_steps.h"
#include "model/observe.h"

namespace synthesizer {

EncoderDecoder::EncoderDecoder(const ModelOptions& options, int64_t source_vocabulary,
                               int64_t target_vocabulary, bool shared_embedding) {
  auto embedding = [&](const char* name, int64_t vocabulary) {
    return register_module(name, std::make_shared<Embedding>(vocabulary, options.width));
  };
  if (shared_embedding) {
    source_embedding_ = target_embedding_ = embedding("embedding", source_vocabulary);
  } else {
    source_embedding_ = embedding("source_embedding", source_vocabulary);
    target_embedding_ = embedding("target_embedding", target_vocabulary);
  }
  encoder_ = register_module("encoder", std::make_shared<Stack>(options, Side::encoder, false));
  decoder_ = register_module("decoder", std::make_shared<Stack>(options, Side::decoder, true));
  output_ =
      register_module("output", std::make_shared<Output>(options, target_vocabulary, target_embedding_));
}

at::Tensor EncoderDecoder::encode(const at::Tensor& source, const at::Tensor& lengths) {
  return observed("encoder", "output", encoder_->forward(source_embedding_->forward(source), lengths));
}

at::Tensor EncoderDecoder::decode(const at::Tensor& target, const at::Tensor& lengths,
                                  const at::Tensor& encoded, const at::Tensor& encoded_lengths) {
  const auto x = target_embedding_->forward(target);
  return observed("decoder", "output", decoder_->forward(x, lengths, encoded, encoded_lengths));
}

std::unique_ptr<StepModel> EncoderDecoder::start(const at::Tensor& encoded, const at::Tensor& lengths) {
  c10::NoGradGuard no_grad;
  const int64_t rows = encoded.size(0);
  return std::make_unique<DecoderSteps>(*target_embedding_, *decoder_, *output_,
                                        decoder_->start(rows, encoded, lengths), rows);
}

}  // namespace synthesizer
