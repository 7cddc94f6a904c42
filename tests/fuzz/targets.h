#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// The entry points that take bytes from outside, each behind a function of the same form. libFuzzer calls it
// with bytes of its own making (./run fuzz), fuzz_test with the inputs in tests/fuzz/corpus.
namespace synthesizer::fuzz {

/// Returns where the input was read, and where it was refused as it should be (InvalidInput, with a message
/// that begins with the file's name). Any other exception, a crash, a hang or too much memory is a fault.
using Run = void (*)(std::string_view input);

#define PLAIN(name, what) void run_##name(std::string_view input);
#define TENSORS(name, what) void run_##name(std::string_view input);
#include "fuzz/targets.inc"
#undef PLAIN
#undef TENSORS

struct Target {
  std::string name;
  Run run;
};
std::vector<Target> plain_targets();
std::vector<Target> tensor_targets();

/// Throws what both fuzzers and tests take for a fault.
[[noreturn]] inline void fault(const std::string& what) {
  throw std::logic_error(what);
}

/// Calls an entry point that may refuse its input. False where it did.
template <class Call>
bool accepted(const std::string& file, const Call& call) {
  try {
    call();
    return true;
  } catch (const InvalidInput& refusal) {
    const std::string message = refusal.what();
    if (message.rfind(file, 0) != 0) fault("the message does not begin with '" + file + "': " + message);
  }
  return false;
}

}  // namespace synthesizer::fuzz
