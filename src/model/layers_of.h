#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/layer.h"

namespace synthesizer {

/// The layers of any model by their names ("encoder.layers.0"), in the order they were made.
std::vector<std::pair<std::string, std::shared_ptr<Layer>>> layers_of(torch::nn::Module& model);

/// How one layer weighs the members of its mixture.
struct MixtureShares {
  std::string layer;
  std::vector<std::string> members;         ///< "R", "V"
  std::vector<std::vector<double>> shares;  ///< one row for the layer, or one per head
};

/// Of every layer that learns them, as it uses them; none where no layer does.
std::vector<MixtureShares> mixture_shares_of(torch::nn::Module& model);

}  // namespace synthesizer
