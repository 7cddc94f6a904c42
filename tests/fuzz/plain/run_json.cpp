#include <nlohmann/json.hpp>

#include "fuzz/targets.h"
#include "run/provenance.h"

namespace synthesizer::fuzz {

void run_run_json(std::string_view input) {
  Provenance found;
  if (!accepted("file", [&] { found = parse_provenance("file", input); })) return;
  // Written and read again it says the same.
  const std::string text = found.json().dump();
  if (parse_provenance("file", text).json().dump() != text) fault("reading it again gives another record");
}

}  // namespace synthesizer::fuzz
