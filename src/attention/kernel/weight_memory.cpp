#include "attention/kernel/weight_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

namespace synthesizer::kernel {
namespace {

constexpr size_t kAlignment = 128;
constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kBlock = size_t{1} << 25;  // what is never written to takes no memory

size_t round_up(size_t size, size_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

class Block {
 public:
  explicit Block(size_t size) : mapped_size_(size + kHugePage), left_(size) {
    mapped_ = ::mmap(nullptr, mapped_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    const auto begin = reinterpret_cast<uintptr_t>(mapped_);
    next_ = static_cast<std::byte*>(mapped_) + (round_up(begin, kHugePage) - begin);
    ::madvise(next_, size, MADV_HUGEPAGE);  // where the system has none, small pages do
  }
  ~Block() { ::munmap(mapped_, mapped_size_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Null where it has no place for so much.
  float* take(size_t size) {
    if (size > left_) return nullptr;
    left_ -= size;
    return reinterpret_cast<float*>(std::exchange(next_, next_ + size));
  }

 private:
  void* mapped_;
  size_t mapped_size_, left_;
  std::byte* next_;
};

}  // namespace

std::shared_ptr<float[]> weight_memory(size_t count) {
  static std::mutex mutex;
  static std::weak_ptr<Block> last;
  const size_t size = round_up(count * sizeof(float), kAlignment);
  const std::lock_guard lock(mutex);
  auto block = last.lock();
  float* found = block ? block->take(size) : nullptr;
  if (found == nullptr) {
    block = std::make_shared<Block>(std::max(kBlock, round_up(size, kHugePage)));
    found = block->take(size);
    last = block;
  }
  return {std::move(block), found};
}

}  // namespace synthesizer::kernel
