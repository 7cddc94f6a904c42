#pragma once

#include <optional>
#include <string>

namespace synthesizer {

/// What a processor says of AMX: whether it claims it, and the highest tile palette it describes.
struct AmxClaim {
  bool advertised = false;
  unsigned highest_palette = 0;
};

/// Some virtual machines advertise AMX but hide its tile table; oneDNN then configures palette 0, and the
/// first bfloat16 product of any PyTorch program dies of an illegal instruction. For such a claim: the value
/// of ONEDNN_MAX_CPU_ISA that avoids it, unless the user has set one.
std::optional<std::string> onednn_limit(const AmxClaim& claim, const char* set_by_user);

/// Looks at this processor and sets the variable where it is needed. Must come before the first matrix
/// product: `synth`, the tests and `import synthesizer` call it at their start. Safe to call again.
void avoid_amx_trap();

/// Whether it is AMD's and has AVX-512.
bool is_amd_with_avx512();

}  // namespace synthesizer
