#pragma once

namespace torch::nn {
class Module;
}

namespace synthesizer {

/// Copies the tensors that both models have under the same name and in the same shape.
void copy_tensors_of_equal_name(const torch::nn::Module& from, torch::nn::Module& to);

}  // namespace synthesizer
