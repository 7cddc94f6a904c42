#include "model/encoder_decoder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>

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
  // The longest first, so that those of equal length lie side by side.
  std::vector<int64_t> order(sources.size()), places(sources.size());
  auto length = [&](int64_t n) { return static_cast<int64_t>(sources[static_cast<size_t>(n)].size()); };
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return length(a) > length(b); });
  const auto all = static_cast<int64_t>(sources.size());
  const auto tokens = at::zeros({all, length(order.front())}, at::kLong);
  std::vector<int64_t> lengths;
  for (int64_t row = 0; row < all; ++row) {
    const int64_t n = order[static_cast<size_t>(row)];
    const auto& source = sources[static_cast<size_t>(n)];
    std::copy(source.begin(), source.end(), tokens[row].data_ptr<int64_t>());
    lengths.push_back(length(n));
    places[static_cast<size_t>(n)] = row;
  }
  const auto encoded =
      lengths.front() == lengths.back() ? encode(tokens, {}) : encode_sorted(tokens, lengths);
  return encoded.index_select(0, at::tensor(at::ArrayRef<int64_t>(places), at::kLong));
}

at::Tensor EncoderDecoder::encode_sorted(const at::Tensor& tokens, const std::vector<int64_t>& lengths) {
  if (encoder_->packs()) {
    const auto there = at::tensor(at::ArrayRef<int64_t>(lengths), at::kLong);
    return call_forward_hook("encoder", "output",
                             encoder_->forward_apart(source_embedding_->forward(tokens), there));
  }
  at::Tensor all;
  for (size_t first = 0, last = 0; first < lengths.size(); first = last) {
    while (last < lengths.size() && lengths[last] == lengths[first]) ++last;
    const auto begin = static_cast<int64_t>(first), rows = static_cast<int64_t>(last - first);
    const auto own = encode(tokens.narrow(0, begin, rows).narrow(1, 0, lengths[first]), {});
    if (!all.defined()) all = at::zeros({tokens.size(0), tokens.size(1), own.size(2)}, own.options());
    all.narrow(0, begin, rows).narrow(1, 0, lengths[first]).copy_(own);
  }
  return all;
}

}  // namespace synthesizer
