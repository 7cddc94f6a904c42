#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "task/benchmark.h"

namespace synthesizer {

/// What the labels of a file are called in a target: {"0", "negative"}.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// The target of a label. Throws InvalidInput, beginning with `where`, for one the task does not have.
const std::string& target_of(const Labels& labels, const std::string& label, const std::string& where);

/// T5's form of an example: the task's name, then every field after its own name,
/// "mnli hypothesis: … premise: …". Line ends inside a field become spaces: a source is one line.
class SourceText {
 public:
  explicit SourceText(std::string_view task) : text_(task) {}
  SourceText& add(std::string_view name, std::string_view field);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// An example with one right answer.
TextExample single_answer(std::string source, const std::string& target);

/// Nothing but white space: such lines of JSON files are skipped.
bool is_blank(std::string_view text);

}  // namespace synthesizer
