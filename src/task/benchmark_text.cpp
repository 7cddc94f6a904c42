#include "task/benchmark_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "text/lines.h"

namespace synthesizer {

const std::string& target_of(const Labels& labels, const std::string& label, const std::string& where) {
  const auto found =
      std::find_if(labels.begin(), labels.end(), [&](auto& one) { return one.first == label; });
  if (found != labels.end()) return found->second;
  std::string known;
  for (const auto& one : labels) known += (known.empty() ? "" : ", ") + one.first;
  invalid(fmt::format("{}: the label '{}' is none of {}", where, label, known));
}

SourceText& SourceText::add(std::string_view name, std::string_view field) {
  text_.append(" ").append(name).append(": ").append(as_one_line(std::string(field)));
  return *this;
}

TextExample single_answer(std::string source, const std::string& target) {
  return {std::move(source), target, "", {target}};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace synthesizer
