#pragma once

#include <cstdint>
#include <vector>

namespace synthesizer {

/// Sequences side by side: rows×columns numbers, padded on the right with 0.
struct Field {
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> ids;
  std::vector<int64_t> lengths;  ///< one per row
};

/// Rows of any lengths as one field.
Field field_of(const std::vector<std::vector<int64_t>>& rows);

/// The same without the last token of every row.
Field without_last(const Field& field);

/// What a model is fed with at a time.
struct Batch {
  std::vector<Field> fields;
  std::vector<int64_t> examples;  ///< which they are (where each begins), for messages
  int64_t sequence = 0;           ///< its number in the run
};

}  // namespace synthesizer
