#pragma once

#include <nlohmann/json_fwd.hpp>

#include "inspect/inspection.h"

namespace synthesizer {

/// Everything of an inspection, for pages and other programs; numbers of maps and tables to four digits.
nlohmann::ordered_json to_json(const Inspection& inspection);

}  // namespace synthesizer
