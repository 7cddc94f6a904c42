#pragma once

#include <string_view>

namespace synthesizer {

/// data/paper/tables.json, as it was when the library was built.
extern const std::string_view kPaperTables;
/// data/paper/narang-2021.json likewise.
extern const std::string_view kNarangTables;

}  // namespace synthesizer
