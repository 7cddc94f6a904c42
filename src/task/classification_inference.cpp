// How a trained classifier is used on lines: read, cut, sorted into batches, labelled.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "runtime/interrupt.h"
#include "runtime/workers.h"
#include "task/batch_tensors.h"
#include "task/classification.h"
#include "task/inference_batches.h"

namespace synthesizer {

std::vector<int64_t> ClassificationTask::with_special_tokens(const Tokens& tokens) const {
  std::vector<int64_t> row = {tokenizers().source->begin()};
  row.insert(row.end(), tokens.begin(), tokens.end());
  row.push_back(tokenizers().source->end());
  return row;
}

std::vector<ClassificationResult> ClassificationTask::classify(const std::vector<std::string>& lines,
                                                               int64_t batch_tokens, LongLine too_long,
                                                               int64_t first_line,
                                                               std::vector<std::string>& remarks) {
  c10::NoGradGuard no_grad;
  expect_inference();
  std::vector<Tokens> texts;
  for (const std::string& line : lines) {
    check_interrupt();
    const int64_t number = first_line + static_cast<int64_t>(texts.size());
    texts.push_back(truncate_line(tokenizers().source->encode(line), max_text(), number, too_long, remarks));
  }
  std::vector<ClassificationResult> results(lines.size());
  const auto batches = inference_batches(texts, batch_tokens);
  for_each_piece(batches.size(), [&](size_t batch) {
    c10::NoGradGuard also_in_this_thread;
    const std::vector<size_t>& numbers = batches[batch];
    std::vector<std::vector<int64_t>> rows;
    for (const size_t n : numbers) rows.push_back(with_special_tokens(texts[n]));
    auto found = classify(field_of(rows));
    for (size_t i = 0; i < numbers.size(); ++i) results[numbers[i]] = std::move(found[i]);
  });
  return results;
}

size_t ClassificationTask::label_number(const std::string& label) const {
  const auto found = std::find(labels().begin(), labels().end(), label);
  if (found == labels().end()) invalid(fmt::format("'{}' is not a label of this run", label));
  return static_cast<size_t>(found - labels().begin());
}

Batch ClassificationTask::batch_of(const std::vector<std::string>& fields) const {
  if (fields.size() != 2)
    invalid(fmt::format("classification takes a text and a label, not {} texts", fields.size()));
  const Tokens text = tokenizers().source->encode(fields[0]);
  check_length("text", text, max_text());
  Batch batch;
  batch.fields = {field_of({{static_cast<int64_t>(label_number(fields[1]))}}),
                  field_of({with_special_tokens(text)})};
  return batch;
}

std::vector<SideInput> ClassificationTask::inputs_of(const Batch& batch) const {
  return {{Side::encoder, batch.fields[1], tokenizers().source}};
}

std::vector<double> ClassificationTask::log_probabilities(
    const std::vector<std::vector<std::string>>& examples) {
  std::vector<double> results;
  std::vector<std::string> remarks;
  for (const auto& fields : examples) {
    if (fields.size() != 2)
      invalid(fmt::format("classification scores a text and a label, not {} texts", fields.size()));
    const size_t label = label_number(fields[1]);
    const auto shares = classify({fields[0]}, 1, LongLine::truncate, 1, remarks).front().probabilities;
    results.push_back(std::log(shares[label]));
  }
  return results;
}

}  // namespace synthesizer
