#include "attention/kernel/gradient_memory.h"

#include <ATen/ATen.h>

#include <chrono>
#include <list>
#include <memory>
#include <mutex>

#include "attention/kernel/huge_block.h"

namespace synthesizer::kernel {
namespace {

using Clock = std::chrono::steady_clock;
using BlockPtr = std::unique_ptr<HugeBlock>;

constexpr int64_t kLeast = int64_t{8} << 20;  // bytes
constexpr auto kWanted = std::chrono::seconds(5);

/// The blocks that no gradient lies in.
class FreeBlocks {
 public:
  /// One that is large enough and wastes little.
  BlockPtr take(size_t size) {
    const std::lock_guard lock(mutex_);
    BlockPtr found;
    for (auto block = free_.begin(); block != free_.end(); ++block) {
      if (block->memory->size() < size || block->memory->size() > size + size / 4) continue;
      found = std::move(block->memory);
      free_.erase(block);
      break;
    }
    drop_unwanted();
    return found;
  }

  void give_back(BlockPtr memory) {
    const std::lock_guard lock(mutex_);
    free_.push_back({std::move(memory), Clock::now()});
    drop_unwanted();
  }

 private:
  struct Free {
    BlockPtr memory;
    Clock::time_point since;
  };

  void drop_unwanted() {
    const auto now = Clock::now();
    while (!free_.empty() && now - free_.front().since > kWanted) free_.pop_front();
  }

  std::mutex mutex_;
  std::list<Free> free_;  // the oldest first
};

FreeBlocks& free_blocks() {
  static auto* const blocks = new FreeBlocks;  // tensors may outlive what the program's end destroys
  return *blocks;
}

}  // namespace

at::Tensor gradient_memory(at::IntArrayRef sizes) {
  const int64_t bytes = c10::multiply_integers(sizes) * static_cast<int64_t>(sizeof(float));
  if (bytes < kLeast) return at::empty(sizes, at::kFloat);
  auto block = free_blocks().take(static_cast<size_t>(bytes));
  if (!block) block = std::make_unique<HugeBlock>(static_cast<size_t>(bytes));
  HugeBlock* const raw = block.get();
  auto tensor = at::from_blob(
      raw->begin(), sizes, [raw](void*) { free_blocks().give_back(BlockPtr(raw)); }, at::kFloat);
  static_cast<void>(block.release());  // it is the tensor's now
  return tensor;
}

}  // namespace synthesizer::kernel
