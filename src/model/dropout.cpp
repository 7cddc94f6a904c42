#include "model/dropout.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include "attention/kernel/attend.h"
#include "attention/kernel/random_bits.h"
#include "attention/kernel/tile.h"

namespace synthesizer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Rows that one thread takes at least.
constexpr int64_t kGrain = 16;

class Dropped : public torch::autograd::Function<Dropped> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, double probability, int64_t seed) {
    context->saved_data["probability"] = probability;
    context->saved_data["seed"] = seed;
    return drop_out_with_seed(x, probability, seed);
  }
  static variable_list backward(AutogradContext* context, variable_list slopes) {
    return {drop_out_with_seed(slopes[0], context->saved_data["probability"].toDouble(),
                               context->saved_data["seed"].toInt()),
            {},
            {}};
  }
};

}  // namespace

at::Tensor drop_out_with_seed(const at::Tensor& x, double probability, int64_t seed) {
  auto y = x.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true, at::MemoryFormat::Contiguous);
  const int64_t columns = y.size(-1), rows = columns > 0 ? y.numel() / columns : 0;
  float* data = y.data_ptr<float>();
  const kernel::DropoutMask drop{kernel::drop_threshold(probability),
                                 static_cast<float>(1 / (1 - probability)), seed, 0};
  at::parallel_for(0, rows, kGrain, [&](int64_t begin, int64_t end) {
    kernel::apply_dropout({data + begin * columns, columns, end - begin, columns, begin, 0}, drop);
  });
  return y.to(x.scalar_type());
}

at::Tensor drop_out(const at::Tensor& x, double probability, bool training) {
  if (!training || probability <= 0) return x;
  RECORD_FUNCTION("synthesizer::drop_out", c10::ArrayRef<c10::IValue>(), at::sequence_number::peek());
  return Dropped::apply(x, probability, draw_seed());
}

}  // namespace synthesizer
