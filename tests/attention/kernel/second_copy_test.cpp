// A process that loads the operators twice, in two libraries, goes on with those it had first.

#include <dlfcn.h>

#include <filesystem>
#include <memory>

#include "attention/kernel/attend.h"
#include "attention/kernel/convolve.h"
#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

using TwoTensors = at::Tensor* (*)(const at::Tensor&, const at::Tensor&);

at::Tensor attend_table(const at::Tensor& table, const at::Tensor& value) {
  Logits logits;
  logits.table = table;
  return attend(logits, {}, value);
}

at::Tensor call(void* library, const char* name, const at::Tensor& a, const at::Tensor& b) {
  const auto function = reinterpret_cast<TwoTensors>(::dlsym(library, name));
  return function ? *std::unique_ptr<at::Tensor>(function(a, b)) : at::Tensor();
}

TEST(SecondCopy, of_the_operators_is_harmless) {
  const auto table = noise({2, 5, 5}, 1), value = noise({3, 2, 5, 4}, 2);
  const auto input = noise({3, 5, 4}, 3), weight = noise({2, 3}, 4);
  const auto attended = attend_table(table, value), convolved = convolve(input, weight, {}, 1);

  const auto path = std::filesystem::canonical("/proc/self/exe").parent_path() / "second_copy.so";
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto again = table.detach().clone().requires_grad_();
  const auto second = call(library, "second_copy_attend", again, value);
  EXPECT_TRUE(same_bits(second, attended));
  second.sum().backward();
  EXPECT_EQ(again.grad().sizes(), table.sizes());
  EXPECT_TRUE(same_bits(call(library, "second_copy_convolve", input, weight), convolved));
  EXPECT_TRUE(same_bits(attend_table(table, value), attended)) << "the first copy, beside the second";

  ::dlclose(library);
  EXPECT_TRUE(same_bits(attend_table(table, value), attended)) << "the first copy, without the second";
  EXPECT_TRUE(same_bits(convolve(input, weight, {}, 1), convolved));
}

}  // namespace
}  // namespace synthesizer::testing
