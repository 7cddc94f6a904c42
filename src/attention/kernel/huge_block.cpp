#include "attention/kernel/huge_block.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace synthesizer::kernel {

HugeBlock::HugeBlock(size_t size) {
  constexpr size_t kHugePage = size_t{1} << 21;
  size_ = (size + kHugePage - 1) / kHugePage * kHugePage;
  mapped_size_ = size_ + kHugePage;
  mapped_ = ::mmap(nullptr, mapped_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped_ == MAP_FAILED) throw std::bad_alloc();
  const auto address = reinterpret_cast<uintptr_t>(mapped_);
  begin_ = static_cast<std::byte*>(mapped_) + (kHugePage - address % kHugePage) % kHugePage;
  ::madvise(begin_, size_, MADV_HUGEPAGE);  // where the system has none, small pages do
}

HugeBlock::~HugeBlock() {
  ::munmap(mapped_, mapped_size_);
}

}  // namespace synthesizer::kernel
