// The start of test programs with tensors: the processor is looked at before the first matrix product, and
// $ONLY_TARGET (SSE4, SCALAR, …) takes the vector code of lesser processors instead of the best there is.

#include <hwy/targets.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "run_tests.h"
#include "runtime/processor.h"

namespace {

/// Makes the named instruction set the only one; false where this program or processor has none of that name.
bool choose_target(const std::string& name) {
  for (int64_t target = hwy::SupportedTargets(); target != 0; target &= target - 1) {
    const int64_t one = target & -target;
    if (hwy::TargetName(one) != name) continue;
    hwy::SetSupportedTargetsForTest(one);
    return true;
  }
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  synthesizer::avoid_amx_trap();
  std::string program = std::filesystem::path(arguments[0]).filename().string();
  if (const char* only = std::getenv("ONLY_TARGET")) {
    program += std::string("_") + only;
    if (!choose_target(only)) {
      std::cerr << "no vector code for " << only << " here\n";
      return 1;
    }
  }
  return synthesizer::testing_support::run_tests(count, arguments, program);
}
