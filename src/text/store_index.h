#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/store_file.h"

namespace synthesizer {

/// `index.json` of a token store: written last, so that a folder that has one is whole.
struct StoreIndex {
  std::string hash;
  int64_t examples = 0;
  int64_t fields = 0;
  std::vector<StoredFile> files;
};

void write_index(const std::string& folder, const StoreIndex& index);

/// Nothing where the folder has none, or one that this version does not understand.
std::optional<StoreIndex> read_index(const std::string& folder);

/// Runs of examples that follow each other line by line in one file; the file `lines` is a list of them.
struct LineRun {
  int64_t example = 0;  ///< the first
  int64_t file = 0;     ///< place in Files::paths
  int64_t line = 0;     ///< of the first, from 1
};
/// Whether an example simply comes from the next line after those of a run.
inline bool continues(const LineRun& run, const LineRun& next) {
  return next.file == run.file && next.line - run.line == next.example - run.example;
}

}  // namespace synthesizer
