#pragma once

#include <string_view>

namespace synthesizer {

/// Whether the table by which a SentencePiece model normalizes text (`precompiled_charsmap`) stays within
/// itself. SentencePiece follows it unseen, and one damaged byte in a file would have it read anywhere.
bool charsmap_is_valid(std::string_view charsmap);

}  // namespace synthesizer
