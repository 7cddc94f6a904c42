#include <fmt/format.h>

#include "base/error.h"
#include "base/range.h"
#include "task/benchmark_scores.h"
#include "task/benchmark_text.h"
#include "task/text_template.h"
#include "text/records.h"

namespace synthesizer {
namespace {

class TemplateReader : public BenchmarkReader {
 public:
  TemplateReader(TextTemplate source, TextTemplate target, bool json)
      : source_(std::move(source)), target_(std::move(target)), json_(json), columns_(source_.fields()) {
    columns_.insert(columns_.end(), target_.fields().begin(), target_.fields().end());
  }

  std::vector<TextExample> read(const std::string& text, int64_t line, const std::string& where) override {
    if (json_) {
      if (is_blank(text)) return {};
      return {filled(read_json_record(text, columns_, where))};
    }
    if (line > 1) return {filled(row(text, where))};
    places_ = find_columns(text, columns_, where);
    width_ = split_tabs(text).size();
    return {};
  }

 private:
  std::vector<std::string> row(const std::string& text, const std::string& where) const {
    const auto parts = split_tabs(text);
    if (parts.size() != width_)
      invalid(fmt::format("{}: {} fields, where the header has {}", where, parts.size(), width_));
    std::vector<std::string> values;
    for (size_t place : places_) values.emplace_back(parts[place]);
    return values;
  }
  TextExample filled(const std::vector<std::string>& values) const {
    const std::string* of_target = values.data() + source_.fields().size();
    return single_answer(source_.filled(values.data()), target_.filled(of_target));
  }

  TextTemplate source_, target_;
  bool json_;
  std::vector<std::string> columns_;  // of the source, then of the target
  std::vector<size_t> places_;        // of them in a row
  size_t width_ = 0;
};

}  // namespace

Benchmark template_benchmark(const std::string& name, const std::string& source, const std::string& target,
                             TextFormat format) {
  if (format != TextFormat::tsv && format != TextFormat::jsonl)
    check_one_of("format of " + name, choice_name(format), {"tsv", "jsonl"});  // throws
  const TextTemplate from(source, "source of " + name), to(target, "target of " + name);
  const bool json = format == TextFormat::jsonl;
  return {name,
          "",
          [=](bool) { return std::make_unique<TemplateReader>(from, to, json); },
          accuracy_score(),
          {"accuracy"}};
}

}  // namespace synthesizer
