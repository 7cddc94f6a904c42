#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "report/comparable.h"
#include "run/run_folder.h"
#include "text/content_hash.h"

namespace synthesizer {
namespace {

bool has(const Evaluation& evaluation, const std::string& key) {
  return std::any_of(evaluation.scores.begin(), evaluation.scores.end(),
                     [&](const auto& score) { return score.first == key; });
}

/// What the task itself counts, then how well the model foresees the text.
std::vector<std::string> score_columns(const Evaluation& evaluation) {
  static const std::vector<std::string> likelihood = {
      "loss", "perplexity", "log_perplexity", "word_perplexity", "bits_per_character", "accuracy"};
  std::set<std::string> written;  // scores of what the model writes
  for (const auto& scored : evaluation.outputs.scored) written.insert(scored.keys.begin(), scored.keys.end());
  const bool writes = !written.empty();
  std::vector<std::string> columns;  // in the task's order: the one that counts first
  for (const auto& [key, value] : evaluation.scores) {
    const bool foreseen = std::find(likelihood.begin(), likelihood.end(), key) != likelihood.end();
    if (written.contains(key) || (!foreseen && !is_count(key))) columns.push_back(key);
  }
  // Of a model that writes one such number is enough; of one that only foresees they are all there is.
  if (writes || !columns.empty()) {
    columns.push_back(has(evaluation, "perplexity") ? "perplexity" : "loss");
  } else {
    for (const char* key : {"log_perplexity", "loss", "perplexity", "bits_per_character", "accuracy"}) {
      if (has(evaluation, key) && !(std::string(key) == "loss" && has(evaluation, "log_perplexity")))
        columns.push_back(key);
    }
  }
  return columns;
}

/// Equal for runs that belong into one row.
std::string without_seed(const RunRecord& run) {
  std::string text;
  for (const auto& [key, value] : run.settings) {
    if (key != "seed") text += key + "=" + value + "\n";
  }
  return text;
}

/// The same weights are the same run, whatever its folder is called: it must not count as two seeds.
void check_different(const std::vector<RunRecord>& runs, const std::string& weights) {
  std::map<std::string, std::string> known;  // folder of a run, by the hash of its weights
  for (const RunRecord& run : runs) {
    const std::string file = RunFolder{run.path}.weights(weights);
    if (!std::filesystem::exists(file)) continue;  // whoever opens it says so
    const auto [first, is_new] = known.try_emplace(file_hash(file), run.path);
    if (!is_new)
      invalid(fmt::format("{} and {} have the same weights: they are one run; name it once", first->second,
                          run.path));
  }
}

}  // namespace

std::vector<double> ComparedRow::values(const std::string& score) const {
  std::vector<double> found;
  for (const Evaluation& one : evaluations) {
    for (const auto& [key, value] : one.scores) {
      if (key == score) found.push_back(value);
    }
  }
  return found.size() == evaluations.size() ? found : std::vector<double>();
}

Comparison compare_runs(const std::vector<std::string>& folders, const std::string& weights,
                        const std::vector<std::string>& data) {
  std::vector<RunRecord> records;
  std::vector<const RunRecord*> pointers;
  records.reserve(folders.size());
  for (const std::string& folder : folders) {
    records.push_back(read_run(folder));
    check_has_steps(records.back());
    pointers.push_back(&records.back());
  }
  check_comparable(pointers);
  check_different(records, weights);

  Comparison comparison;
  std::map<std::string, size_t> row_of;
  std::vector<const RunRecord*> firsts;
  for (const RunRecord& record : records) {
    const auto [place, is_new] = row_of.try_emplace(without_seed(record), comparison.rows.size());
    if (is_new) {
      comparison.rows.emplace_back();
      firsts.push_back(&record);
    }
    ComparedRow& row = comparison.rows[place->second];
    row.runs.push_back(record);
    row.evaluations.push_back(cached_evaluation(record.path, weights, data));
  }
  const auto labels = labels_of(firsts);
  for (size_t i = 0; i < labels.size(); ++i) comparison.rows[i].label = labels[i];
  comparison.scores = score_columns(comparison.rows.front().evaluations.front());
  return comparison;
}

int score_digits(const std::string& key) {
  return lower_is_better(key) ? 3 : 2;
}

std::string score_name(const std::string& key) {
  static const std::map<std::string, std::string> names = {
      {"bleu", "BLEU"},
      {"bleu1", "BLEU-1"},
      {"bleu2", "BLEU-2"},
      {"bleu3", "BLEU-3"},
      {"bleu4", "BLEU-4"},
      {"chrf", "chrF"},
      {"rouge1", "ROUGE-1"},
      {"rouge2", "ROUGE-2"},
      {"rougeL", "ROUGE-L"},
      {"rougeLsum", "ROUGE-Lsum"},
      {"meteor", "METEOR"},
      {"cider", "CIDEr"},
      {"macro_f1", "macro F1"},
      {"exact_match", "exact match"},
      {"matthews", "Matthews"},
      {"bits_per_character", "bits/char"},
      {"glue", "GLUE"},
      {"superglue", "SuperGLUE"},
      {"log_perplexity", "log perplexity"},
  };
  const auto found = names.find(key);
  return found == names.end() ? key : found->second;
}

}  // namespace synthesizer
