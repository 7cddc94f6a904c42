#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/error.h"
#include "task/benchmark_text.h"
#include "task/superglue.h"
#include "text/json_object.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

/// An article ends with its highlights, each after a line "@highlight". They become sentences of it: a stop
/// is put where there is none.
std::string with_highlights(std::string_view article) {
  constexpr std::string_view kMark = "\n@highlight\n";
  std::string text;
  for (size_t end = article.find(kMark); end != std::string_view::npos; end = article.find(kMark)) {
    text += article.substr(0, end);
    const bool stopped =
        end > 0 && std::string_view(".?!\"'").find(article[end - 1]) != std::string_view::npos;
    text += stopped ? " " : ". ";
    article.remove_prefix(end + kMark.size());
  }
  return text += article;
}

/// The entities of a passage, each once and in order. They are marked by the places of their first and last
/// characters, counted in code points.
std::set<std::string> entities_of(const JsonObject& passage) {
  const std::string text = passage.text("text");
  const auto characters = split_characters(text);
  std::set<std::string> entities;
  for (const JsonObject& entity : passage.objects("entities")) {
    const int64_t start = entity.integer("start"), end = entity.integer("end");
    if (start < 0 || end < start || end >= static_cast<int64_t>(characters.size())) {
      invalid(fmt::format("{}: characters {} to {} are not in the passage, which has {}", entity.where(),
                          start, end, characters.size()));
    }
    const char* begin = characters[static_cast<size_t>(start)].data();
    const auto last = characters[static_cast<size_t>(end)];
    entities.emplace(begin, last.data() + last.size());
  }
  return entities;
}

class RecordReader : public BenchmarkReader {
 public:
  explicit RecordReader(bool training) : training_(training) {}

  std::vector<TextExample> read(const std::string& text, int64_t, const std::string& where) override {
    if (is_blank(text)) return {};
    const JsonObject line(text, where), passage = line.object("passage");
    const std::string entities = fmt::format("{}", fmt::join(entities_of(passage), ", "));
    const std::string article = with_highlights(passage.text("text"));
    const int64_t number = line.integer("idx");
    std::vector<TextExample> examples;
    for (const JsonObject& query : line.objects("qas")) {
      SourceText source("record");
      source.add("query", query.text("query")).add("entities", entities).add("passage", article);
      std::set<std::string> found;
      for (const JsonObject& answer : query.objects("answers")) found.insert(answer.text("text"));
      if (found.empty())
        invalid(fmt::format("{}: there is no answer to learn or to compare with", query.where()));
      TextExample example{source.take(), "", fmt::format("{}/{}", number, query.integer("idx")), {}};
      example.answers.assign(found.begin(), found.end());
      // The same entity is often written in several ways. All are learnt; one writing is asked for.
      const size_t count = training_ ? example.answers.size() : 1;
      for (size_t i = 0; i < count; ++i) {
        example.target = example.answers[i];
        examples.push_back(example);
      }
    }
    return examples;
  }

 private:
  bool training_;
};

}  // namespace

std::unique_ptr<BenchmarkReader> record_reader(bool training) {
  return std::make_unique<RecordReader>(training);
}

}  // namespace synthesizer
