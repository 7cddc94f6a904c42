#pragma once

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

namespace synthesizer::testing_support {

/// Runs all tests of the program; results go to $RESULTS/<program>.xml where that is set.
inline int run_tests(int count, char** arguments, const std::string& program) {
  if (const char* results = std::getenv("RESULTS"))
    GTEST_FLAG_SET(output, "xml:" + std::string(results) + "/" + program + ".xml");
  ::testing::InitGoogleMock(&count, arguments);
  return RUN_ALL_TESTS();
}

}  // namespace synthesizer::testing_support
