// Memory as the program keeps it: aligned, given back to the next request of its size, reported.

#include "runtime/memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace synthesizer {
namespace {

TEST(Memory, AFreedBlockServesTheNextOfItsSize) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps freed blocks aside";
#endif
  keep_freed_memory();
  constexpr int64_t size = 1 << 20;
  auto first = at::empty({size}), behind = at::empty({size});
  const void* place = first.data_ptr();
  first.reset();
  const auto next = at::empty({size});
  EXPECT_EQ(next.data_ptr(), place);
}

TEST(Memory, TensorsOfAllSizesAreAlignedAndWhole) {
  keep_freed_memory();
  for (const int64_t size : {0, 1, 3, 100, 4096, 100000}) {
    auto t = at::arange(size);
    if (size > 0) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data_ptr()) % 64, 0U) << size;
    }
    const auto copy = t.clone();
    t.resize_({2 * size + 1});
    EXPECT_TRUE(at::equal(t.narrow(0, 0, size), copy));
  }
}

TEST(Memory, ThePeakIsNotBelowWhatIsHeld) {
  const auto held = at::ones({4 << 20});
  EXPECT_GE(memory_bytes(), held.nbytes());
  EXPECT_GE(peak_memory_bytes(), memory_bytes() * 0.99);
}

}  // namespace
}  // namespace synthesizer
