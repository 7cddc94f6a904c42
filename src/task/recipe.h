#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decode/options.h"
#include "model/options.h"
#include "text/examples.h"
#include "text/line_batches.h"
#include "train/options.h"

namespace synthesizer {

/// What a sequence of a language model is.
enum class SequenceKind { stream, lines };
inline Choices choices(SequenceKind) {
  static constexpr ChoiceName names[] = {{"stream", "all lines as one text, cut into windows"}, {"lines"}};
  return names;
}

/// Which text, and how it is cut. Keys of [data].
struct DataOptions {
  std::string root;  ///< folder of the files; absolute once a recipe is loaded
  std::vector<std::string> train, dev, test;
  TextFormat format = TextFormat::automatic;
  std::vector<std::string> columns;  ///< of tsv and jsonl
  std::vector<std::string> labels;   ///< classification: the classes; empty: those of the training text
  int64_t history_turns = 3;         ///< dialogue: how many of the last turns are read; 0: all
  std::string vectors;               ///< dialogue: word vectors for the embedding scores
  /// Translation: the scores of what the model writes, the one that counts first.
  std::vector<std::string> metrics = {"bleu", "chrf", "exact_match"};
  double corruption = 0.15;                      ///< span-corruption: share of the tokens taken out
  double mean_span = 3;                          ///< span-corruption: their mean length
  std::vector<std::string> tasks;                ///< text-to-text: the task of each file
  std::string source_template, target_template;  ///< text-to-text: of tables that are no benchmark
  int64_t mixing_cap = 0;                        ///< text-to-text: 0: none
  double mixing_temperature = 1;                 ///< text-to-text
  std::string tokenizer = "unigram";             ///< a kind, or the file of one
  int64_t vocabulary = 8000;
  double character_coverage = 1;
  bool joint = true;                              ///< one tokenizer for source and target
  int64_t max_length = 0, max_source_length = 0;  ///< 0: what the model can take
  TooLong too_long = TooLong::error;
  SequenceKind sequence = SequenceKind::stream;  ///< language models
  std::string cache;                             ///< of tokenized text; empty: the user's cache folder
};

/// A complete run, as a TOML file says it. Every value has a default.
struct Recipe {
  std::string task = "language-model";
  int64_t seed = 1;
  DataOptions data;
  ModelOptions model;
  TrainOptions train;
  DecodeOptions decode;
};

/// Reads a recipe, then `changes` ("train.steps=100", from the command line) over it. Throws InvalidInput
/// with file and line, or the key, where a key is unknown, a value of the wrong kind or out of its range.
Recipe load_recipe(const std::string& path, const std::vector<std::string>& changes = {});

/// Throws InvalidInput where values are out of their ranges. (load_recipe has done that.)
void check(const Recipe& recipe);

/// Throws InvalidInput where an option of model.options is one that no layer of this recipe takes. (A recipe
/// for several attention variants, as `synth compare` has it, may have some.)
void check_options_used(const Recipe& recipe);

/// All values as TOML, which load_recipe reads back as the same recipe.
std::string to_toml(const Recipe& recipe);

/// Every key with its default and what it means, for `synth train --explain`.
std::string explain_recipe();

/// The keys in which two recipes differ, "train.seed (1, was 2)"; keys that a run may change when it is
/// taken up again (how often it logs and saves, how it decodes) are left out.
std::vector<std::string> differing_keys(const Recipe& now, const Recipe& before);

/// The file as the recipe means it: below data.root unless it is absolute.
std::string data_path(const Recipe& recipe, const std::string& file);

}  // namespace synthesizer
