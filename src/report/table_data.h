#pragma once

#include <nlohmann/json_fwd.hpp>

#include "report/table.h"

namespace synthesizer {

// A table for programs: numbers as they are, not as they are shown.

/// RFC 4180. A column KEY is followed by KEY_low, KEY_high, KEY_spread, KEY_p, KEY_paper and KEY_narang where
/// any of its cells has them; what is missing is empty.
std::string csv_table(const Table& table);

/// {"columns": [{"key", "heading", "higher_is_better"}], "rows": [{KEY: …}], "notes": […]}. A cell is a text,
/// null, or {"value", "low", "high", "spread", "p", "paper", "narang", "best"} with what there is of it.
nlohmann::ordered_json json_table(const Table& table);

}  // namespace synthesizer
