// The start of every test program: the processor is looked at before the first matrix product, and results go
// to $RESULTS/<program>.xml where that is set.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "attention/processor.h"

int main(int count, char** arguments) {
  synthesizer::avoid_amx_trap();
  const std::string program = std::filesystem::path(arguments[0]).filename().string();
  if (const char* results = std::getenv("RESULTS")) {
    GTEST_FLAG_SET(output, "xml:" + std::string(results) + "/" + program + ".xml");
  }
  testing::InitGoogleMock(&count, arguments);
  return RUN_ALL_TESTS();
}
