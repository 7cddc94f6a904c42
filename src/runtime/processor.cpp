#include "runtime/processor.h"

#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace synthesizer {
namespace {

AmxClaim read_claim() {
  AmxClaim claim;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) claim.advertised = (d >> 24) & 1;
  if (__get_cpuid_count(0x1D, 0, &a, &b, &c, &d)) claim.highest_palette = a;
#endif
  return claim;
}

}  // namespace

std::optional<std::string> onednn_limit(const AmxClaim& claim, const char* set_by_user) {
  if (!claim.advertised || claim.highest_palette > 0 || set_by_user) return std::nullopt;
  return "AVX512_CORE_BF16";
}

void avoid_amx_trap() {
  constexpr const char* kName = "ONEDNN_MAX_CPU_ISA";
  if (auto limit = onednn_limit(read_claim(), std::getenv(kName))) setenv(kName, limit->c_str(), 0);
}

bool is_amd_with_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

}  // namespace synthesizer
