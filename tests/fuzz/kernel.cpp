// fuzz_kernel [--seconds N] [--cases N] [--seed N]: random cases of the kernel
// (attention/kernel/random_case.h), each on every instruction set of the machine. --seed repeats one case.

#include <fmt/format.h>
#include <hwy/targets.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

#include "attention/kernel/random_case.h"
#include "runtime/processor.h"

namespace {

/// That this program has code for and the machine can run.
std::vector<int64_t> instruction_sets() {
  std::vector<int64_t> sets;
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1)
    sets.push_back(left & -left);
  return sets;
}

/// The number after an option; -1 where it is not given.
int64_t option(int count, char** arguments, const char* name) {
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(arguments[i], name) == 0) return std::atoll(arguments[i + 1]);
  }
  return -1;
}

/// The number of instruction sets on which the case went wrong.
int check(uint64_t seed, const std::vector<int64_t>& sets) {
  int wrong = 0;
  for (const int64_t set : sets) {
    hwy::SetSupportedTargetsForTest(set);
    const std::string found = synthesizer::testing::check_random_case(seed);
    if (found.empty()) continue;
    ++wrong;
    std::cout << fmt::format("{} on {}: repeat it with ./run fuzz kernel --seed {}\n  {}\n", seed,
                             hwy::TargetName(set), seed, found);
  }
  return wrong;
}

}  // namespace

int main(int count, char** arguments) {
  synthesizer::avoid_amx_trap();
  const auto sets = instruction_sets();
  const int64_t seed = option(count, arguments, "--seed");
  if (seed >= 0) return check(static_cast<uint64_t>(seed), sets) == 0 ? 0 : 1;
  int64_t cases = option(count, arguments, "--cases"), seconds = option(count, arguments, "--seconds");
  if (cases < 0 && seconds < 0) seconds = 60;
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  int64_t done = 0, wrong = 0;
  while ((cases < 0 || done < cases) && (seconds < 0 || spent() < static_cast<double>(seconds)) && wrong < 20)
    wrong += check(static_cast<uint64_t>(++done), sets) == 0 ? 0 : 1;
  std::string names;
  for (const int64_t set : sets) names += std::string(names.empty() ? "" : ", ") + hwy::TargetName(set);
  std::cout << fmt::format("fuzz: kernel: {} cases on each of {}, {} wrong, {:.0f} s\n", done, names, wrong,
                           spent());
  return wrong == 0 ? 0 : 1;
}
