#pragma once

#include <torch/nn/module.h>

#include <optional>
#include <string>
#include <vector>

#include "attention/quantization.h"

namespace synthesizer {

/// A weight matrix of a model and the form that replaces it at inference.
struct MatrixSlot {
  std::string name;     ///< of the tensor in the model
  at::Tensor tensor;    ///< the handle that the model holds
  MatrixFormPtr* form;  ///< the module's own: none in training
  bool multiplies;      ///< inputs are multiplied by it; false for an embedding whose rows are only looked up
};

/// The matrices of linear maps and the embeddings of a model; a tied one comes once. The model must outlive
/// it.
std::vector<MatrixSlot> matrix_slots(const torch::nn::Module& model);

/// Makes a model ready for inference, for good: all matrices are packed, and causal weights that depend on no
/// token are computed (Mixer::prepare); what is quantized stays so. From now on nothing in the model changes:
/// any number of threads may use it at once, each with its own decoding state. Gradients are refused
/// (InvalidInput), and its tensors must not be written to. Throws InvalidInput unless they are float32 on the
/// CPU.
void prepare_for_inference(torch::nn::Module& model);

/// Lets the tensors of `to` be those of `from`, which has the same parameters: no numbers are copied.
void share_tensors(const torch::nn::Module& from, torch::nn::Module& to);

/// Makes a model smaller and faster: the matrices of linear maps and the embeddings become numbers of that
/// kind (matrix_form.h); those that are quantized already stay as they are, and so do tables, norms, biases
/// and positions. The model cannot be trained any more.
void quantize(torch::nn::Module& model, Quantization kind);

/// The slot's tensor becomes the form. The memory of the tensor is freed; reading it gives NaN.
void replace_by(std::shared_ptr<const QuantizedMatrix> form, const MatrixSlot& slot);

/// What the model is quantized to; nothing where it is not.
std::optional<Quantization> quantization(const torch::nn::Module& model);

/// Throws InvalidInput where it is: `run`, whose model it is, cannot be trained or made into another.
void check_not_quantized(const torch::nn::Module& model, const std::string& run);

}  // namespace synthesizer
