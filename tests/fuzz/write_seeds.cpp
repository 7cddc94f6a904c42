// write_fuzz_seeds FOLDER: files as the library writes them, for make_corpus.py to put into the corpus.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <string>

#include "fuzz/small_models.h"
#include "model/prepare.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"

int main(int, char** arguments) {
  using namespace synthesizer;
  const std::string folder = std::string(arguments[1]) + "/";
  const fuzz::StateModel model;
  const auto optimizer = fuzz::state_optimizer(model);
  save_state(folder + "training_state", model, *optimizer,
             {.step = 3, .tokens = 96, .seconds = 1.5, .step_batches = 1});
  c10::NoGradGuard no_grad;
  fuzz::MapModel map;
  save_weights(folder + "float", map, 3);
  fuzz::MapModel half;
  quantize(half, Quantization::bfloat16);
  save_weights(folder + "bfloat16", half, 3);
  quantize(map, Quantization::int8);
  save_weights(folder + "int8", map, 3);
  save_tensors(folder + "dtypes", {{"f64", at::ones({2}, at::kDouble)},
                                   {"bf16", at::ones({1, 3}, at::kBFloat16)},
                                   {"bool", at::ones({2, 2}, at::kBool)},
                                   {"none", at::ones({0, 4})}});
  return 0;
}
