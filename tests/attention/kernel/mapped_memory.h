#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace synthesizer::testing {

/// Of this process, in kB.
inline int64_t mapped_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t size = 0;
  while (status >> word && word != "VmSize:") {
  }
  status >> size;
  return size;
}

}  // namespace synthesizer::testing
