#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/comparable.h"

namespace synthesizer {
namespace {

bool has(const Measured& measured, const std::string& key) {
  return std::any_of(measured.scores.begin(), measured.scores.end(),
                     [&](const auto& score) { return score.first == key; });
}

/// What the task itself counts, then how well the model foresees the text.
std::vector<std::string> score_columns(const Measured& measured) {
  static const std::vector<std::string> likelihood = {
      "loss", "perplexity", "log_perplexity", "word_perplexity", "bits_per_character", "accuracy"};
  std::vector<std::string> columns;
  for (const auto& scored : measured.outputs.scored) {
    for (const std::string& key : scored.keys) columns.push_back(key);
  }
  const bool writes = !columns.empty();
  for (const auto& [key, value] : measured.scores) {
    const bool known = std::find(columns.begin(), columns.end(), key) != columns.end();
    const bool foreseen = std::find(likelihood.begin(), likelihood.end(), key) != likelihood.end();
    if (!known && !foreseen && !is_count(key)) columns.push_back(key);
  }
  // Of a model that writes one such number is enough; of one that only foresees they are all there is.
  if (writes || !columns.empty()) {
    columns.push_back(has(measured, "perplexity") ? "perplexity" : "loss");
  } else {
    for (const char* key : {"log_perplexity", "loss", "perplexity", "bits_per_character", "accuracy"}) {
      if (has(measured, key) && !(std::string(key) == "loss" && has(measured, "log_perplexity")))
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

}  // namespace

std::vector<double> ComparedRow::values(const std::string& score) const {
  std::vector<double> found;
  for (const Measured& one : measured) {
    for (const auto& [key, value] : one.scores) {
      if (key == score) found.push_back(value);
    }
  }
  return found.size() == measured.size() ? found : std::vector<double>();
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
    row.measured.push_back(measured_run(record.path, weights, data));
  }
  const auto labels = labels_of(firsts);
  for (size_t i = 0; i < labels.size(); ++i) comparison.rows[i].label = labels[i];
  comparison.scores = score_columns(comparison.rows.front().measured.front());
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
