#include "attention/kernel/weight_memory.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "attention/kernel/huge_block.h"

namespace synthesizer::kernel {
namespace {

constexpr size_t kAlignment = 128;
constexpr size_t kBlock = size_t{1} << 25;

struct Block : HugeBlock {
  using HugeBlock::HugeBlock;

  /// Null where it has no place for so much.
  float* take(size_t wanted) {
    if (wanted > size() - taken) return nullptr;
    return reinterpret_cast<float*>(begin() + std::exchange(taken, taken + wanted));
  }

  size_t taken = 0;
};

}  // namespace

std::shared_ptr<float[]> weight_memory(size_t count) {
  static std::mutex mutex;
  static std::weak_ptr<Block> last;
  const size_t size = (count * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard lock(mutex);
  auto block = last.lock();
  float* found = block ? block->take(size) : nullptr;
  if (found == nullptr) {
    block = std::make_shared<Block>(std::max(kBlock, size));
    found = block->take(size);
    last = block;
  }
  return {std::move(block), found};
}

}  // namespace synthesizer::kernel
