#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "task/recipe.h"

namespace torch::nn {
class Module;
}

namespace synthesizer {

/// Trained parameters of a whole model.
struct ModelSize {
  std::vector<std::pair<std::string, int64_t>> parts;  ///< "encoder feed-forward", in the order of the model
  int64_t total = 0;
  int64_t synthesis = 0;  ///< of S
};

ModelSize model_size(const torch::nn::Module& model);

/// Of the model that a recipe makes, without its data: the vocabulary has the size that the recipe asks for.
/// Allocates the model, computes nothing. Throws InvalidInput where the size depends on the training text
/// (characters or words without a limit, classes that are not listed).
ModelSize model_size(const Recipe& recipe);

}  // namespace synthesizer
