#pragma once

#include <torch/nn/module.h>

namespace synthesizer {

/// Gives a prepared model (prepare.h) its own memory for everything that inference reads. The weights of a
/// run are mapped from its file: a program that lives for long must not depend on the file, which somebody
/// may overwrite or cut short in place. Matrices that a packed or quantized form stands for are never read
/// again and stay as they are.
void own_memory(torch::nn::Module& model);

}  // namespace synthesizer
