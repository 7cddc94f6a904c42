#include "model/layers_of.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "attention/mixture.h"
#include "attention/spec.h"
#include "base/parameter_names.h"

namespace synthesizer {

std::vector<std::pair<std::string, std::shared_ptr<Layer>>> layers_of(torch::nn::Module& model) {
  std::vector<std::pair<std::string, std::shared_ptr<Layer>>> layers;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    if (auto layer = std::dynamic_pointer_cast<Layer>(item.value())) layers.emplace_back(item.key(), layer);
  }
  return layers;
}

std::vector<MixtureShares> mixture_shares_of(torch::nn::Module& model) {
  c10::NoGradGuard no_grad;
  std::vector<MixtureShares> all;
  for (const auto& [name, layer] : layers_of(model)) {
    const AttentionImpl& attention = *layer->attention();
    const auto learned =
        Weights(attention.mixer().parameters(), attention.layer_weights()).find(kMixtureName);
    if (!learned.defined()) continue;
    MixtureShares mixture{name, {}, {}};
    for (const Variant* member : parse_spec(attention.options().attention))
      mixture.members.push_back(member->abbreviation);
    const auto shares = mixture_shares(learned.to(at::kDouble)).view({-1, learned.size(-1)}).contiguous();
    const double* row = shares.const_data_ptr<double>();
    for (int64_t r = 0; r < shares.size(0); ++r, row += shares.size(1))
      mixture.shares.emplace_back(row, row + shares.size(1));
    all.push_back(std::move(mixture));
  }
  return all;
}

}  // namespace synthesizer
