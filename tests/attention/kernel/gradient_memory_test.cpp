// Memory that large gradients use again.

#include "attention/kernel/gradient_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "attention/kernel/attend.h"
#include "attention/kernel/mapped_memory.h"
#include "attention/layers.h"

namespace synthesizer::kernel {
namespace {

constexpr int64_t kLarge = int64_t{4} << 20;  // numbers: 16 MB

using testing::mapped_memory;

TEST(GradientMemory, IsOrdinaryWhereItIsSmall) {
  const auto small = gradient_memory({3, 5});
  EXPECT_EQ(small.sizes(), at::IntArrayRef({3, 5}));
  EXPECT_TRUE(small.storage().resizable());
  EXPECT_EQ(gradient_memory({4, 0, 1 << 30}).numel(), 0);
}

TEST(GradientMemory, IsUsedAgain) {
  auto first = gradient_memory({4, kLarge / 4});
  const void* const place = first.data_ptr();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(place) % (size_t{1} << 21), 0U);
  first.fill_(1);
  auto second = gradient_memory({kLarge});
  second.fill_(2);
  EXPECT_NE(second.data_ptr(), place);
  EXPECT_TRUE((first == 1).all().item<bool>());
  const auto view = first[3].narrow(0, 5, 7);
  first.reset();
  EXPECT_NE(gradient_memory({kLarge}).data_ptr(), place) << "a view still has it";
  EXPECT_TRUE((view == 1).all().item<bool>());
}

TEST(GradientMemory, GoesToTheNextOfThatSize) {
  auto first = gradient_memory({kLarge * 3});
  const void* const place = first.data_ptr();
  first.reset();
  EXPECT_NE(gradient_memory({kLarge * 2}).data_ptr(), place) << "half of it would be wasted";
  EXPECT_EQ(gradient_memory({3, kLarge - 5}).data_ptr(), place);
}

TEST(GradientMemory, GoesBackWhereNobodyWantsIt) {
  const int64_t before = mapped_memory();
  gradient_memory({kLarge * 64});  // 1 GB that nobody writes to
  EXPECT_GT(mapped_memory() - before, 900'000);
  ::usleep(5'300'000);
  gradient_memory({kLarge});
  EXPECT_LT(mapped_memory() - before, 100'000);
}

TEST(GradientMemory, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n) {
    threads.emplace_back([n] {
      for (int k = 0; k < 10; ++k) {
        auto tensor = gradient_memory({(int64_t{2} << 20) + n});
        tensor[k] = n;
        tensor[tensor.size(0) - 1] = k;
        EXPECT_EQ(tensor[k].item<float>(), static_cast<float>(n));
        EXPECT_EQ(tensor[tensor.size(0) - 1].item<float>(), static_cast<float>(k));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(GradientMemory, OneStepAfterAnotherGivesTheSame) {
  const int64_t n = 1500;
  for (const bool with_query : {false, true}) {  // the global path and the fused one
    auto table = testing::noise({1, n, n}, 1).requires_grad_();
    const auto value = testing::noise({1, 1, n, 2}, 2), query = testing::noise({1, 1, n, 3}, 3);
    Logits logits;
    logits.table = table;
    if (with_query) logits.query = logits.key = query;
    at::Tensor kept;
    for (int step = 0; step < 3; ++step) {
      attend(logits, {true, {}, {}}, value).square().sum().backward();
      if (step == 1) EXPECT_TRUE(testing::close(table.grad(), 2 * kept, 1e-6)) << "added to what is there";
      if (step == 2) EXPECT_TRUE(testing::same_bits(table.grad(), kept));
      if (step == 0) kept = table.grad().clone();
      if (step == 1) table.mutable_grad().reset();
    }
  }
}

}  // namespace
}  // namespace synthesizer::kernel
