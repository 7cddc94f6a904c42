#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "task/benchmark_text.h"
#include "task/superglue.h"
#include "text/json_object.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

using Words = std::vector<std::string_view>;

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Where these words end in the text if they begin with its word `at`; null where they do not. The last may
/// have a comma or "'s" after it, no further letters. Letter case differs in the files: "The lawyer" in the
/// text is "the lawyer" in its span.
const char* end_of(const Words& span, const Words& text, int64_t at) {
  const size_t begin = static_cast<size_t>(at), count = span.size();
  if (at < 0 || begin + count > text.size()) return nullptr;
  for (size_t i = 0; i + 1 < count; ++i) {
    if (!same_letters(span[i], text[begin + i])) return nullptr;
  }
  const std::string_view last = text[begin + count - 1], wanted = span.back();
  if (!same_letters(last.substr(0, wanted.size()), wanted)) return nullptr;
  const bool more =
      last.size() > wanted.size() && std::isalnum(static_cast<unsigned char>(last[wanted.size()]));
  return more ? nullptr : last.data() + wanted.size();
}

struct Span {
  size_t begin, end;
};

/// The place of a noun or pronoun that is given by its words and the number of the first of them.
Span find_span(const std::string& text, const JsonObject& target, const std::string& name) {
  const std::string wanted = target.text(name + "_text");
  const int64_t at = target.integer(name + "_index");
  const Words words = split_words(text), wanted_words = split_words(wanted);
  // Some numbers are one off ("use" for "it" in the validation set).
  const bool near = at >= -1 && at <= static_cast<int64_t>(words.size());
  for (int64_t place : near ? std::vector<int64_t>{at, at + 1, at - 1} : std::vector<int64_t>{}) {
    const char* end = wanted_words.empty() ? nullptr : end_of(wanted_words, words, place);
    if (end == nullptr) continue;
    const char* begin = words[static_cast<size_t>(place)].data();
    return {static_cast<size_t>(begin - text.data()), static_cast<size_t>(end - text.data())};
  }
  invalid(fmt::format("{}: '{}' does not stand at word {} of the text", target.where(), wanted, at));
}

/// T5's marks: "# This # is a * test * sentence ." for the noun "test" and the pronoun "This".
std::string marked(std::string text, Span noun, Span pronoun) {
  // From the end, so that places further on stay what they were. Where both begin or end at one place, the
  // pronoun is inside the noun ("their mothers"): what is put in later stands before.
  std::vector<std::pair<size_t, std::string>> marks{
      {noun.end, " *"}, {pronoun.end, " #"}, {pronoun.begin, "# "}, {noun.begin, "* "}};
  std::stable_sort(marks.begin(), marks.end(), [](auto& a, auto& b) { return a.first > b.first; });
  for (const auto& [place, mark] : marks) text.insert(place, mark);
  return text;
}

class WscReader : public BenchmarkReader {
 public:
  std::vector<TextExample> read(const std::string& line, int64_t, const std::string& where) override {
    if (is_blank(line)) return {};
    const JsonObject object(line, where), target = object.object("target");
    const std::string text = object.text("text");
    const Span noun = find_span(text, target, "span1"), pronoun = find_span(text, target, "span2");
    SourceText source("wsc");
    source.add("text", marked(text, noun, pronoun));
    return {single_answer(source.take(), target_of(kLabels, object.text("label"), where))};
  }

 private:
  inline static const Labels kLabels{{"true", "True"}, {"false", "False"}};
};

}  // namespace

std::unique_ptr<BenchmarkReader> wsc_reader() {
  return std::make_unique<WscReader>();
}

}  // namespace synthesizer
