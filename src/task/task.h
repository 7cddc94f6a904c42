#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decode/options.h"
#include "metric/metric.h"
#include "task/recipe.h"
#include "task/tokenizers.h"
#include "text/batches.h"
#include "train/loss.h"
#include "train/trainer.h"

namespace synthesizer {

/// One split, opened: the tokenized text and the batches over it.
struct Dataset {
  std::vector<std::unique_ptr<TokenStore>> stores;  ///< one, or one for each of several tasks in one
  std::unique_ptr<Batches> batches;
  std::vector<std::string> paths;     ///< the files it was made of
  int64_t windows = 0;                ///< that running text is cut into; 0: its examples are lines
  int64_t tokens = 0;                 ///< that a model predicts in one epoch
  int64_t words = 0, characters = 0;  ///< of the predicted text, a line end is one of each; 0: there is none
  std::vector<std::string> remarks;   ///< "12 lines were too long and left out"

  int64_t lines() const;
  int64_t examples() const { return windows > 0 ? windows : lines(); }
  bool reused() const;  ///< all of it was tokenized before
};

/// What the model wrote in an evaluation (for a classifier: the labels), what it should have written, and
/// which metrics made scores of it, so that they can be taken again for other choices of the lines.
struct Outputs {
  struct Scored {
    std::string metric;
    MetricOptions options;
    std::vector<std::string> keys;
  };

  Segments written;
  References references;  ///< as long
  Segments sources;       ///< of the first at least, to show beside what was written
  std::vector<Scored> scored;
  int64_t tokens = 0;  ///< written
  double seconds = 0;  ///< that writing took
};

/// What an evaluation found: scores under the keys of `synth eval --json`, and texts (signatures).
struct Evaluation {
  Scores scores;
  std::vector<std::pair<std::string, std::string>> notes;
  Outputs outputs;  ///< empty where the task writes nothing, or was not asked to
};

/// What one side of a model reads of a batch.
struct SideInput {
  Side side;
  Field tokens;
  std::shared_ptr<const Tokenizer> tokenizer;
};

/// What makes a translation a translation: its data, model family, loss, decoding and scores. One file a
/// task.
class Task {
 public:
  virtual ~Task() = default;

  const Recipe& recipe() const { return recipe_; }
  const Tokenizers& tokenizers() const { return tokenizers_; }
  virtual torch::nn::Module& model() = 0;

  /// Opens files as this task reads them; shuffled batches for training, each line once otherwise.
  virtual std::unique_ptr<Dataset> open(const std::vector<std::string>& paths, bool training) const = 0;
  virtual LossSum loss(const Batch& batch) = 0;

  /// Loss and perplexities alone (`texts` false), or with the scores of what the model writes.
  virtual Evaluation evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) = 0;

  /// The log-probability, in nats, of each text (of its last field given the others).
  virtual std::vector<double> log_probabilities(const std::vector<std::vector<std::string>>& examples) = 0;

  /// Scores that may decide which weights are best, the default first; those but "loss" need texts.
  virtual std::vector<std::string> watchable() const { return {"loss"}; }

  /// From now on evaluate() divides its work over these processes, all of which call it; each gets all
  /// scores. None: this process does all of it.
  void share_evaluation(ProcessGroup* group) { group_ = group; }

  /// What a model predicts, and a speed counts.
  virtual std::string unit() const { return "tok"; }

  /// One example as loss() takes it: (text), (source, target) or (text, label). Throws InvalidInput where
  /// there are fewer or more fields, or one is longer than the model can take.
  virtual Batch batch_of(const std::vector<std::string>& fields) const = 0;
  /// What loss() feeds to each side of the model, the encoder first.
  virtual std::vector<SideInput> inputs_of(const Batch& batch) const = 0;

 protected:
  Task(Recipe recipe, Tokenizers tokenizers)
      : recipe_(std::move(recipe)), tokenizers_(std::move(tokenizers)) {}

  /// Throws std::logic_error where the model is in training: evaluating changes nothing, not even a switch,
  /// so that threads can share a prepared task.
  void expect_inference();

  /// Loss and perplexities of a split, with the names every task gives them.
  Scores likelihood(const Dataset& data);

  ProcessGroup* group() const { return group_; }

 private:
  Recipe recipe_;
  Tokenizers tokenizers_;
  ProcessGroup* group_ = nullptr;
};

/// What to do with a line that is longer than the model can take.
enum class LongLine { error, truncate };
inline Choices choices(LongLine) {
  static constexpr ChoiceName names[] = {{"error"}, {"truncate"}};
  return names;
}

/// One result a line.
struct Translation {
  std::string text;
  double score = 0;  ///< normalised by length
  double log_probability = 0;
};

/// Tasks that turn one text into another.
class Translator {
 public:
  virtual ~Translator() = default;
  /// Per line the n best, best first; an empty line gives one empty text. `first_line`: its number, for
  /// messages; `remarks`: what was cut.
  virtual std::vector<std::vector<Translation>> translate(const std::vector<std::string>& lines,
                                                          const DecodeOptions& options, int64_t batch_tokens,
                                                          LongLine too_long, int64_t first_line,
                                                          std::vector<std::string>& remarks) = 0;
};

/// A text's class, and how likely each class is.
struct ClassificationResult {
  std::string label;
  std::vector<double> probabilities;  ///< in the order of TextClassifier::labels()
};

/// Tasks that say which of some classes a text is of.
class TextClassifier {
 public:
  virtual ~TextClassifier() = default;
  virtual const std::vector<std::string>& labels() const = 0;
  /// One per line; parameters as of Translator::translate.
  virtual std::vector<ClassificationResult> classify(const std::vector<std::string>& lines,
                                                     int64_t batch_tokens, LongLine too_long,
                                                     int64_t first_line,
                                                     std::vector<std::string>& remarks) = 0;
};

/// Tasks that go on from a text.
class Generator {
 public:
  virtual ~Generator() = default;
  /// `on_text` gets the text as it grows.
  virtual std::string generate(const std::string& prompt, int64_t tokens, const DecodeOptions& options,
                               const std::function<void(const std::string&)>& on_text) = 0;
};

}  // namespace synthesizer
