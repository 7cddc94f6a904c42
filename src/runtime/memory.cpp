#include "runtime/memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

namespace synthesizer {
namespace {

/// LibTorch asks for aligned memory, and glibc then looks for a larger piece than it gives: a block that was
/// freed never serves the next request of its size, and a fifth of the memory of a training step would be
/// such holes. Here blocks are asked for plainly and aligned by hand.
class PlainAllocator : public c10::Allocator {
 public:
  explicit PlainAllocator(c10::Allocator& before) : before_(before) {}

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release, c10::DeviceType::CPU};
    void* block = std::malloc(bytes + 2 * kAlignment);
    if (block == nullptr) return before_.allocate(bytes);  // which says what was missing
    const auto past = reinterpret_cast<uintptr_t>(block) % kAlignment;
    void* data = static_cast<char*>(block) + 2 * kAlignment - past;  // with room for a pointer before it
    static_cast<void**>(data)[-1] = block;
    return {data, data, &release, c10::DeviceType::CPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }

 private:
  static constexpr size_t kAlignment = 64;
  static void release(void* data) {
    if (data != nullptr) std::free(static_cast<void**>(data)[-1]);
  }
  c10::Allocator& before_;
};

}  // namespace

void keep_freed_memory() {
  static PlainAllocator allocator(*c10::GetCPUAllocator());
  c10::SetAllocator(c10::DeviceType::CPU, &allocator);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

double memory_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE));
}

double peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

}  // namespace synthesizer
