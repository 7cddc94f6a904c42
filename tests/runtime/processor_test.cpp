// When oneDNN has to be kept from AMX: only where the processor claims it, hides its tiles, and the user is
// silent.

#include "runtime/processor.h"

#include <cstdlib>

namespace synthesizer::testing {
namespace {

TEST(Processor, limits_onednn_only_where_amx_is_claimed_but_hidden) {
  EXPECT_EQ(onednn_limit({.advertised = true, .highest_palette = 0}, nullptr), "AVX512_CORE_BF16");
  EXPECT_EQ(onednn_limit({.advertised = true, .highest_palette = 1}, nullptr), std::nullopt);
  EXPECT_EQ(onednn_limit({.advertised = false, .highest_palette = 0}, nullptr), std::nullopt);
  EXPECT_EQ(onednn_limit({.advertised = false, .highest_palette = 1}, nullptr), std::nullopt);
}

TEST(Processor, leaves_the_users_choice_alone) {
  for (const char* choice : {"ALL", "AVX2", "AVX512_CORE_AMX", ""}) {
    EXPECT_EQ(onednn_limit({.advertised = true, .highest_palette = 0}, choice), std::nullopt) << choice;
  }
}

TEST(Processor, can_be_looked_at_again_without_changing_what_was_set) {
  const char* name = "ONEDNN_MAX_CPU_ISA";
  const char* before = std::getenv(name);
  const std::string kept = before ? before : "";
  setenv(name, "AVX2", 1);
  avoid_amx_trap();
  EXPECT_STREQ(std::getenv(name), "AVX2");
  if (before)
    setenv(name, kept.c_str(), 1);
  else
    unsetenv(name);
}

}  // namespace
}  // namespace synthesizer::testing
