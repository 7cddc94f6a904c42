#include "fuzz/targets.h"

namespace synthesizer::fuzz {

std::vector<Target> tensor_targets() {
#define PLAIN(name, what)
#define TENSORS(name, what) {#name, run_##name},
  return {
#include "fuzz/targets.inc"
  };
#undef PLAIN
#undef TENSORS
}

}  // namespace synthesizer::fuzz
