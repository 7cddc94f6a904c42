#include "model/language_model.h"

#include <ATen/ATen.h>

#include "model/decoder_steps.h"
#include "model/forward_hook.h"

namespace synthesizer {

LanguageModel::LanguageModel(const ModelOptions& options, int64_t vocabulary)
    : embedding_(register_module("embedding", std::make_shared<Embedding>(options, vocabulary))),
      decoder_(register_module("decoder", std::make_shared<Stack>(options, Side::decoder, false))),
      output_(register_module("output", std::make_shared<Output>(options, vocabulary, embedding_))) {}

at::Tensor LanguageModel::forward(const at::Tensor& tokens, const at::Tensor& lengths) {
  return call_forward_hook("decoder", "output", decoder_->forward(embedding_->forward(tokens), lengths));
}

std::unique_ptr<StepModel> LanguageModel::start(int64_t rows) {
  return std::make_unique<DecoderSteps>(*embedding_, *decoder_, *output_, decoder_->start(rows), rows);
}

std::unique_ptr<SlotSteps> LanguageModel::start_slots(int64_t slots) const {
  return std::make_unique<SlotSteps>(*embedding_, *decoder_, *output_, slots);
}

}  // namespace synthesizer
