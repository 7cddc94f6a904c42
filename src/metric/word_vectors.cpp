#include "metric/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/number_text.h"
#include "text/lines.h"

namespace synthesizer {
namespace {

/// Between spaces and tabs alone: other white space occurs inside the words of these files.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    if (end > begin) fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

bool is_number(std::string_view text) {
  double value = 0;
  return parse_number(text, value) && std::isfinite(value);
}

/// word2vec's first line: two whole numbers, of which the second is the width of a vector; 0 where it is
/// none.
size_t width_in_header(const std::vector<std::string_view>& fields) {
  constexpr size_t kWidest = 1'000'000;  // above, it is a word and a number
  size_t rows = 0, width = 0;
  const bool numbers = fields.size() == 2 && parse_number(fields[0], rows) && parse_number(fields[1], width);
  return numbers && width <= kWidest ? width : 0;
}

}  // namespace

WordVectors::WordVectors(const std::string& path, const std::vector<std::string_view>& words) {
  for (const std::string_view word : words) rows_.emplace(word, kMissing);
  read(path);
  if (values_.empty()) {
    invalid(
        fmt::format("{} has a vector for none of the {} words of the texts: is it of another language, or "
                    "are its words written another way?",
                    path, rows_.size()));
  }
}

void WordVectors::read(const std::string& path) {
  LineReader reader(path);
  std::vector<float> row;
  std::vector<double> sum;
  size_t rows = 0;
  int64_t first = 0;  // the line that says how wide the vectors are
  for (std::string line; reader.next(line);) {
    const auto fields = fields_of(line);
    if (fields.empty()) continue;
    const auto complain = [&](const std::string& what) {
      invalid(fmt::format("{}:{}: {}", path, reader.number(), what));
    };
    if (first == 0) {
      first = reader.number();
      const size_t announced = width_in_header(fields);
      width_ = announced > 0 ? announced : fields.size() - 1;
      if (announced > 0) continue;
    }
    // In a word with spaces the second field is no number; where it is one, the line has too many.
    const bool spaced = fields.size() > width_ + 1 && !is_number(fields[1]);
    if (width_ == 0 || (fields.size() != width_ + 1 && !spaced)) {
      complain(fmt::format("{} numbers, but {} in line {}: a line is a word and its vector, all equally wide",
                           fields.size() - 1, width_, first));
    }
    sum.resize(width_);
    row.resize(width_);
    for (size_t i = 0; i < width_; ++i) {
      const std::string_view field = fields[fields.size() - width_ + i];
      double value = 0;
      if (!parse_number(field, value) || !std::isfinite(value)) {
        complain(
            fmt::format("'{}' is not a number: a line is a word and its vector, as word2vec and GloVe "
                        "write them as text",
                        field));
      }
      row[i] = static_cast<float>(value);
      sum[i] += row[i];
    }
    ++rows;
    const auto wanted = spaced ? rows_.end() : rows_.find(fields[0]);
    if (wanted == rows_.end() || wanted->second != kMissing) continue;
    wanted->second = values_.size();
    values_.insert(values_.end(), row.begin(), row.end());
  }
  for (const double total : sum) mean_.push_back(static_cast<float>(total / static_cast<double>(rows)));
}

std::span<const float> WordVectors::find(std::string_view word) const {
  const auto found = rows_.find(word);
  if (found == rows_.end() || found->second == kMissing) return {};
  return std::span(values_).subspan(found->second, width_);
}

}  // namespace synthesizer
