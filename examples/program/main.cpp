#include <ATen/ATen.h>
#include <attention/attention.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>

#include <iostream>

/// A model with one of our layers inside, trained to shift its input by one position.
struct Model : torch::nn::Module {
  Model()
      : attention(register_module(
            "attention",
            synthesizer::Attention(
                {.attention = "R+V", .width = 16, .heads = 2, .max_length = 8, .causal = true}))),
        readout(register_module("readout", torch::nn::Linear(16, 16))) {}
  at::Tensor forward(const at::Tensor& x) { return readout(x + attention(x)); }

  synthesizer::Attention attention;
  torch::nn::Linear readout;
};

int main() {
  torch::manual_seed(1);
  Model model;
  torch::optim::Adam optimizer(model.parameters(), 1e-2);
  float first = 0, last = 0;
  for (int step = 0; step < 200; ++step) {
    const auto x = at::randn({16, 8, 16});
    const auto loss = at::mse_loss(model.forward(x).narrow(1, 1, 7), x.narrow(1, 0, 7));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<float>();
    if (step == 0) first = last;
  }
  std::cout << "loss " << first << " to " << last << "\n";
  return last < 0.5F * first ? 0 : 1;
}
