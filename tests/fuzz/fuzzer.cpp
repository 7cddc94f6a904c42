// What libFuzzer calls. $FUZZ_TARGET names the entry point.

#include <sanitizer/allocator_interface.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/targets.h"

namespace {

using synthesizer::fuzz::Target;

constexpr size_t kMostMemory = size_t{64} << 20;  // beyond the input's own size

const Target* chosen = nullptr;
size_t allowed = 0;  // bytes on the heap; 0: no input is being read
size_t calls = 0;

/// Called with every allocation. What is on the heap is known only by a sum over threads, so it is asked for
/// at large allocations and now and then.
void watch_memory(const volatile void*, size_t bytes) {
  if (allowed == 0 || (bytes < 65536 && ++calls % 4096 != 0)) return;
  const size_t now = __sanitizer_get_current_allocated_bytes();
  if (now <= allowed) return;
  const size_t over = now - allowed;
  allowed = 0;
  std::fprintf(stderr, "fuzz: error: more than 64 MB beyond the size of the input: %zu bytes over\n", over);
  std::abort();
}
void ignore_free(const volatile void*) {}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("FUZZ_TARGET");
  static const auto targets = synthesizer::fuzz::FUZZ_TARGETS();
  for (const Target& target : targets) {
    if (name != nullptr && target.name == name) chosen = &target;
  }
  if (chosen == nullptr) {
    std::fprintf(stderr, "fuzz: error: FUZZ_TARGET names no target of this program\n");
    std::exit(2);
  }
  __sanitizer_install_malloc_and_free_hooks(watch_memory, ignore_free);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static bool first = true;
  if (!first) allowed = __sanitizer_get_current_allocated_bytes() + kMostMemory + size;
  chosen->run({reinterpret_cast<const char*>(data), size});  // the first call may build what all others use
  allowed = 0;
  first = false;
  return 0;
}
