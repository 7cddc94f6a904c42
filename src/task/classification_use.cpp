// How a trained classifier is used on lines: read, cut, sorted into batches, labelled.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "task/batch_tensors.h"
#include "task/classification.h"
#include "task/line_work.h"

namespace synthesizer {

std::vector<int64_t> ClassificationTask::framed(const Tokens& tokens) const {
  std::vector<int64_t> row = {tokenizers().source->begin()};
  row.insert(row.end(), tokens.begin(), tokens.end());
  row.push_back(tokenizers().source->end());
  return row;
}

std::vector<Classified> ClassificationTask::classify(const std::vector<std::string>& lines,
                                                     int64_t batch_tokens, LongLine too_long,
                                                     int64_t first_line, std::vector<std::string>& remarks) {
  c10::NoGradGuard no_grad;
  model_->eval();
  std::vector<Tokens> texts;
  for (const std::string& line : lines) {
    const int64_t number = first_line + static_cast<int64_t>(texts.size());
    texts.push_back(cut_line(tokenizers().source->encode(line), max_text(), number, too_long, remarks));
  }
  std::vector<Classified> results(lines.size());
  in_batches(texts, batch_tokens, [&](const std::vector<size_t>& numbers) {
    std::vector<std::vector<int64_t>> rows;
    for (const size_t n : numbers) rows.push_back(framed(texts[n]));
    const auto shares = probabilities(field_of(rows)).contiguous();  // B×C
    const double* row = shares.const_data_ptr<double>();
    for (const size_t n : numbers) {
      results[n].probabilities.assign(row, row + shares.size(1));
      results[n].label = labels()[static_cast<size_t>(std::max_element(row, row + shares.size(1)) - row)];
      row += shares.size(1);
    }
  });
  return results;
}

std::vector<double> ClassificationTask::log_probabilities(
    const std::vector<std::vector<std::string>>& examples) {
  std::vector<double> results;
  std::vector<std::string> remarks;
  for (const auto& fields : examples) {
    if (fields.size() != 2)
      invalid(fmt::format("classification scores a text and a label, not {} texts", fields.size()));
    const auto found = std::find(labels().begin(), labels().end(), fields[1]);
    if (found == labels().end()) invalid(fmt::format("'{}' is no label of this run", fields[1]));
    const auto shares = classify({fields[0]}, 1, LongLine::truncate, 1, remarks).front().probabilities;
    results.push_back(std::log(shares[static_cast<size_t>(found - labels().begin())]));
  }
  return results;
}

}  // namespace synthesizer
