#include "text/batches.h"

#include <fmt/format.h>

#include <algorithm>

namespace synthesizer {

Field field_of(const std::vector<std::vector<int64_t>>& rows) {
  Field field;
  field.rows = static_cast<int64_t>(rows.size());
  for (const auto& row : rows) {
    field.lengths.push_back(static_cast<int64_t>(row.size()));
    field.columns = std::max(field.columns, field.lengths.back());
  }
  for (const auto& row : rows) {
    field.ids.insert(field.ids.end(), row.begin(), row.end());
    field.ids.resize(field.ids.size() + static_cast<size_t>(field.columns) - row.size(), 0);
  }
  return field;
}

Field without_last(const Field& field) {
  Field shorter{field.rows, field.columns - 1, {}, field.lengths};
  for (auto row = field.ids.begin(); row != field.ids.end(); row += field.columns)
    shorter.ids.insert(shorter.ids.end(), row, row + field.columns - 1);
  for (int64_t& length : shorter.lengths) --length;
  return shorter;
}

std::string describe_examples(const TokenStore& store, const std::vector<int64_t>& examples) {
  constexpr size_t kShown = 3;
  const size_t shown = std::min(examples.size(), kShown);
  std::string text, path;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += ", ";
    const std::string& here = store.path(examples[i]);
    text += here == path ? std::to_string(store.line(examples[i])) : store.where(examples[i]);
    path = here;
  }
  if (examples.size() > shown) text += fmt::format(" and {} more", examples.size() - shown);
  return text;
}

}  // namespace synthesizer
