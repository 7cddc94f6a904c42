#pragma once

#include <optional>
#include <string>

#include "text/text_blocks.h"

namespace synthesizer {

/// Some of the examples of a corpus, by number.
struct ExampleRange {
  int64_t first = 0, count = 0;
  bool operator==(const ExampleRange&) const = default;
};

/// Tokenized examples as one file, which appears whole or not at all.
void save_part(const std::string& path, const EncodedBlock& part, size_t fields);

/// Nothing where there is no such file, where it is damaged, and where it holds other examples.
std::optional<EncodedBlock> load_part(const std::string& path, const ExampleRange& range, size_t fields);

}  // namespace synthesizer
