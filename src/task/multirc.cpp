#include <fmt/format.h>

#include "task/benchmark_text.h"
#include "task/superglue.h"
#include "text/json_object.h"

namespace synthesizer {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Paragraphs come with the marks of a web page: "<b>Sent 1: </b>…<br>".
std::string without_marks(std::string text) {
  replace_all(text, "<br>", " ");
  replace_all(text, "<b>", "");
  replace_all(text, "</b>", "");
  return text;
}

class MultircReader : public BenchmarkReader {
 public:
  std::vector<TextExample> read(const std::string& text, int64_t, const std::string& where) override {
    if (is_blank(text)) return {};
    const JsonObject line(text, where), passage = line.object("passage");
    const std::string paragraph = passage.text("text");
    const int64_t number = line.integer("idx");
    std::vector<TextExample> examples;
    for (const JsonObject& question : passage.objects("questions")) {
      // Exact match is counted over the answers of a question, which only has a number within its passage.
      const std::string group = fmt::format("{}/{}", number, question.integer("idx"));
      for (const JsonObject& answer : question.objects("answers")) {
        SourceText source("multirc");
        source.add("question", question.text("question")).add("answer", answer.text("text"));
        source.add("paragraph", paragraph);
        const std::string& target = target_of(kLabels, answer.text("label"), answer.where());
        examples.push_back({without_marks(source.take()), target, group, {target}});
      }
    }
    return examples;
  }

 private:
  inline static const Labels kLabels{{"0", "False"}, {"1", "True"}};
};

}  // namespace

std::unique_ptr<BenchmarkReader> multirc_reader() {
  return std::make_unique<MultircReader>();
}

}  // namespace synthesizer
