#include "train/memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <limits>

namespace synthesizer {

void keep_freed_memory() {
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
