#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// The word as a shell reads it back: in single quotes, unless it has no character that means something to a
/// shell. "~/" at its beginning stays as it is: run.json has it in place of the home folder.
std::string shell_quoted(std::string_view word);

/// The words as a command line that can be pasted.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace synthesizer
