#include "model/encoder_decoder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <map>

#include "model/decoder_steps.h"
#include "model/forward_hook.h"

namespace synthesizer {

EncoderDecoder::EncoderDecoder(const ModelOptions& options, int64_t source_vocabulary,
                               int64_t target_vocabulary, bool shared_embedding) {
  auto embedding = [&](const char* name, int64_t vocabulary) {
    return register_module(name, std::make_shared<Embedding>(options, vocabulary));
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
  return call_forward_hook("encoder", "output",
                           encoder_->forward(source_embedding_->forward(source), lengths));
}

at::Tensor EncoderDecoder::decode(const at::Tensor& target, const at::Tensor& lengths,
                                  const at::Tensor& encoded, const at::Tensor& encoded_lengths) {
  const auto x = target_embedding_->forward(target);
  return call_forward_hook("decoder", "output", decoder_->forward(x, lengths, encoded, encoded_lengths));
}

std::unique_ptr<StepModel> EncoderDecoder::start(const at::Tensor& encoded, const at::Tensor& lengths) {
  c10::NoGradGuard no_grad;
  const int64_t rows = encoded.size(0);
  return std::make_unique<DecoderSteps>(*target_embedding_, *decoder_, *output_,
                                        decoder_->start(rows, encoded, lengths), rows);
}

std::unique_ptr<SlotSteps> EncoderDecoder::start_slots(int64_t slots) const {
  return std::make_unique<SlotSteps>(*target_embedding_, *decoder_, *output_, slots);
}

at::Tensor EncoderDecoder::encode_apart(const std::vector<std::vector<int64_t>>& sources) {
  c10::NoGradGuard no_grad;
  std::map<size_t, std::vector<int64_t>> of_length;  // which sources
  for (size_t n = 0; n < sources.size(); ++n) of_length[sources[n].size()].push_back(static_cast<int64_t>(n));
  at::Tensor all;
  for (auto group = of_length.rbegin(); group != of_length.rend(); ++group) {  // the longest first
    const auto& [length, members] = *group;
    std::vector<int64_t> tokens;
    for (const int64_t n : members) {
      const auto& source = sources[static_cast<size_t>(n)];
      tokens.insert(tokens.end(), source.begin(), source.end());
    }
    const auto rows = static_cast<int64_t>(members.size()), columns = static_cast<int64_t>(length);
    const auto fed = at::tensor(at::ArrayRef<int64_t>(tokens), at::kLong).view({rows, columns});
    auto encoded = encode(fed, {});
    if (of_length.size() == 1) return encoded;
    if (!all.defined())
      all = at::zeros({static_cast<int64_t>(sources.size()), columns, encoded.size(2)}, encoded.options());
    all.narrow(1, 0, columns).index_copy_(0, at::tensor(at::ArrayRef<int64_t>(members), at::kLong), encoded);
  }
  return all;
}

}  // namespace synthesizer
