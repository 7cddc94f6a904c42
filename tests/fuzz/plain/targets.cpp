#include "fuzz/targets.h"

namespace synthesizer::fuzz {

std::vector<Target> plain_targets() {
#define PLAIN(name, what) {#name, run_##name},
#define TENSORS(name, what)
  return {
#include "fuzz/targets.inc"
  };
#undef PLAIN
#undef TENSORS
}

}  // namespace synthesizer::fuzz
