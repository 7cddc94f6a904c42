#include "model/output.h"

#include <ATen/ATen.h>

#include <cmath>

#include "attention/linear_map.h"

namespace synthesizer {

Output::Output(const ModelOptions& options, int64_t vocabulary, std::shared_ptr<Embedding> tied_to) {
  if (options.output_bias) bias_ = declare({"bias", Role::bias, {vocabulary}, Init::zero()});
  if (options.tied) {
    tied_to_ = std::move(tied_to);
    return;
  }
  const Init init = Init::normal(1 / std::sqrt(static_cast<double>(options.width)));
  weight_ = declare({"weight", Role::matrix, {vocabulary, options.width}, init});
}

at::Tensor Output::weight() const {
  return plain_matrix(tensor(), form());
}

at::Tensor Output::logits(const at::Tensor& hidden) const {
  return linear_map(hidden, tensor(), bias_, form()).to(at::kFloat);
}

}  // namespace synthesizer
