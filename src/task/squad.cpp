#include "task/squad.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "task/benchmark_scores.h"
#include "task/benchmark_text.h"
#include "text/json_object.h"

namespace synthesizer {
namespace {

/// ASCII punctuation gets a space on each side, and white space becomes one space (T5's _pad_punctuation);
/// none is left at the ends.
std::string padded(const std::string& text) {
  std::string result;
  auto add_space = [&] {
    if (!result.empty() && result.back() != ' ') result += ' ';
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isspace(byte)) {
      add_space();
    } else if (byte < 0x80 && std::ispunct(byte)) {
      add_space();
      result += c;
      result += ' ';
    } else {
      result += c;
    }
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

TextExample squad_example(const JsonObject& question, const std::string& context,
                          std::vector<std::string> answers, std::string group) {
  if (answers.empty()) {
    invalid(
        fmt::format("{}: there is no answer to learn or to compare with (questions without one, as SQuAD 2.0 "
                    "has them, are not "
                    "read)",
                    question.where()));
  }
  for (std::string& answer : answers) answer = padded(answer);
  const std::string target = answers.front();
  return {fmt::format("question: {} context: {}", padded(question.text("question")), context), target,
          std::move(group), std::move(answers)};
}

class SquadReader : public BenchmarkReader {
 public:
  std::vector<TextExample> read(const std::string& text, int64_t, const std::string& where) override {
    if (is_blank(text)) return {};
    const JsonObject line(text, where);
    if (!line.has("data")) {
      return {squad_example(line, padded(line.text("context")), line.object("answers").texts("text"), where)};
    }
    std::vector<TextExample> examples;
    for (const JsonObject& article : line.objects("data")) {
      for (const JsonObject& paragraph : article.objects("paragraphs")) {
        const std::string context = padded(paragraph.text("context"));
        for (const JsonObject& question : paragraph.objects("qas")) {
          std::vector<std::string> answers;
          for (const JsonObject& answer : question.objects("answers")) answers.push_back(answer.text("text"));
          examples.push_back(squad_example(question, context, std::move(answers), question.where()));
        }
      }
    }
    return examples;
  }
};

}  // namespace

Benchmark squad_benchmark() {
  return {"squad",
          "",
          [](bool) { return std::make_unique<SquadReader>(); },
          best_answer_scores(),
          {"f1", "exact_match"}};
}

}  // namespace synthesizer
