#include "run/settings.h"
#include "fuzz/targets.h"

namespace synthesizer::fuzz {

void run_settings(std::string_view input) {
  accepted("file", [&] {
    for (const auto& [key, value] : parse_settings("file", input)) {
      if (setting({{key, value}}, key) != value) fault("a setting is not found under its name");
    }
  });
}

}  // namespace synthesizer::fuzz
