#include "task/dialogue.h"

#include <fmt/format.h>

#include "base/error.h"
#include "task/recipe.h"
#include "text/lines.h"

namespace synthesizer {
namespace {

constexpr const char* kTurn = " <t> ";

/// The last turns first, whole, then the persona: what is cut off where it is too long matters least.
std::string source_text(const std::string& persona, const std::string& history, int64_t turns) {
  size_t begin = std::string::npos;
  for (int64_t n = 0; n < turns && begin != 0; ++n) {
    const size_t found = history.rfind(kTurn, begin == std::string::npos ? begin : begin - 1);
    begin = found == std::string::npos ? 0 : found;
  }
  const bool all = turns == 0 || begin == 0;
  const std::string said = all ? history : history.substr(begin + std::string(kTurn).size());
  return persona.empty() ? said : fmt::format("{} <p> {}", said, persona);
}

/// Throws InvalidInput where the word vectors cannot be read.
void check_vectors(const Recipe& recipe) {
  if (recipe.data.vectors.empty()) return;
  try {
    const LineReader opened(data_path(recipe, recipe.data.vectors));
  } catch (const InvalidInput& error) {
    invalid(fmt::format("data.vectors: {}", error.what()));
  }
}

class DialogueShaper : public RecordConverter {
 public:
  explicit DialogueShaper(int64_t turns) : turns_(turns) {}
  size_t fields() const override { return 2; }
  void convert(std::vector<std::string>& record, int64_t, const std::string&,
               std::vector<std::vector<std::string>>& examples) override {
    examples.push_back({source_text(record[0], record[1], turns_), std::move(record[2])});
  }

 private:
  int64_t turns_;
};

}  // namespace

void DialogueTask::set_converter(const Recipe& recipe, const Shards&, Files& files) {
  const int64_t turns = recipe.data.history_turns;
  files.converter = [turns] { return std::make_unique<DialogueShaper>(turns); };
  files.converter_key = fmt::format("dialogue, {} turns", turns);
}

// Word vectors are not needed before the trained model is scored: too late to find that there are none.
std::unique_ptr<Dataset> DialogueTask::open(const std::vector<std::string>& paths, bool training) const {
  if (training) check_vectors(recipe());
  return SequenceTask::open(paths, training);
}

std::string DialogueTask::source_of(const std::string& line) const {
  const size_t tab = line.find('\t');
  const int64_t turns = recipe().data.history_turns;
  if (tab == std::string::npos) return source_text("", line, turns);
  return source_text(line.substr(0, tab), line.substr(tab + 1), turns);
}

void DialogueTask::score_texts(const Segments& written, const References& references,
                               Evaluation& result) const {
  measure("caption", {}, written, references, {"bleu1", "bleu4", "rougeL", "cider"}, result);
  measure("meteor", {}, written, references, {"meteor"}, result);
  if (recipe().data.vectors.empty()) return;
  measure("embedding", {{"vectors", data_path(recipe(), recipe().data.vectors)}}, written, references,
          {"average", "extrema", "greedy"}, result);
}

}  // namespace synthesizer
