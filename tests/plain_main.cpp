// The start of test programs that have no tensors.

#include <filesystem>

#include "run_tests.h"

int main(int count, char** arguments) {
  const std::string program = std::filesystem::path(arguments[0]).filename().string();
  return synthesizer::testing_support::run_tests(count, arguments, program);
}
