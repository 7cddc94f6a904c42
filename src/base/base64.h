#pragma once

#include <string>
#include <string_view>

namespace synthesizer {

/// The bytes as text of 64 characters (RFC 4648), filled up with "=".
std::string base64(std::string_view bytes);

}  // namespace synthesizer
