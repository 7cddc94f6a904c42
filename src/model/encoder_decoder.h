#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "model/embedding.h"
#include "model/output.h"
#include "model/slot_steps.h"
#include "model/stack.h"
#include "model/step_model.h"

namespace synthesizer {

/// The Transformer for translation: an encoder over the source and a decoder with cross-attention to it.
/// Source and target share one embedding where they share a vocabulary.
class EncoderDecoder : public torch::nn::Module {
 public:
  EncoderDecoder(const ModelOptions& options, int64_t source_vocabulary, int64_t target_vocabulary,
                 bool shared_embedding);

  at::Tensor encode(const at::Tensor& source, const at::Tensor& lengths);  ///< B×M to B×M×D
  /// target B×L to hidden states B×L×D; row i has seen target tokens 0 … i and the whole source.
  at::Tensor decode(const at::Tensor& target, const at::Tensor& lengths, const at::Tensor& encoded,
                    const at::Tensor& encoded_lengths);

  const Output& output() const { return *output_; }
  const Stack& encoder() const { return *encoder_; }
  const Stack& decoder() const { return *decoder_; }

  /// Step by step, one row per source sentence. The model must outlive it.
  std::unique_ptr<StepModel> start(const at::Tensor& encoded, const at::Tensor& lengths);
  std::unique_ptr<SlotSteps> start_slots(int64_t slots) const;

  /// encode() for one or more sources of any lengths, each with exactly the bits it has alone in a prepared
  /// model; no padding is computed. Returns B×M×D with zeros behind shorter ones.
  at::Tensor encode_apart(const std::vector<std::vector<int64_t>>& sources);

 private:
  /// The same for tokens B×M in the order of their lengths, the longest first.
  at::Tensor encode_sorted(const at::Tensor& tokens, const std::vector<int64_t>& lengths);

  std::shared_ptr<Embedding> source_embedding_, target_embedding_;  ///< the same one where shared
  std::shared_ptr<Stack> encoder_, decoder_;
  std::shared_ptr<Output> output_;
};

}  // namespace synthesizer
