#pragma once

#include <functional>
#include <string>

namespace torch::nn {
class Module;
}

namespace synthesizer {

/// A loss or a gradient is not a finite number: which tensor went wrong first? Looks at the parameters, then
/// at the output of every block while `forward` runs once more, then at the gradients there are.
std::string find_nonfinite_tensor(const torch::nn::Module& model, const std::function<void()>& forward);

}  // namespace synthesizer
