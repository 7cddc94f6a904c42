#pragma once

#include <torch/nn/module.h>

#include <string>

namespace synthesizer {

/// Makes a model smaller and faster to use: the matrices of linear maps and the embeddings become numbers of
/// the `kind` ("int8"; weight_form.h), a quarter of the memory. Tables, norms, biases and positions stay as
/// they are. The model cannot be trained any more. Throws InvalidInput for another kind.
void quantize(torch::nn::Module& model, const std::string& kind);

/// Whether something of the model is quantized.
bool quantized(const torch::nn::Module& model);

/// Throws InvalidInput where it is: `run`, whose model it is, cannot be trained or made into another.
void check_not_quantized(const torch::nn::Module& model, const std::string& run);

}  // namespace synthesizer
