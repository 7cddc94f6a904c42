#pragma once

#include <functional>

#include "metric/metric.h"
#include "model/encoder_decoder.h"
#include "task/task.h"

namespace synthesizer {

/// Tasks that turn one text into another with an encoder-decoder: translation and its kin. A task of this
/// kind says where its pairs of texts come from and which scores count.
class SequenceTask : public Task, public Translator {
 public:
  torch::nn::Module& model() override { return *model_; }
  std::unique_ptr<Dataset> open(const std::vector<std::string>& paths, bool training) const override;
  LossSum loss(const Batch& batch) override;
  Evaluation evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) override;
  std::vector<double> log_probabilities(const std::vector<std::vector<std::string>>& examples) override;
  Batch batch_of(const std::vector<std::string>& fields) const override;
  std::vector<SideInput> inputs_of(const Batch& batch) const override;
  std::vector<std::vector<Translation>> translate(const std::vector<std::string>& lines,
                                                  const DecodeOptions& options, int64_t batch_tokens,
                                                  LongLine too_long, int64_t first_line,
                                                  std::vector<std::string>& remarks) override;

  // The parts of translate(), for a server that shares steps among lines of many requests. Results have
  // exactly the bits of the line alone. All of it is const, or works on what the caller owns: threads may
  // share the task.

  /// The tokens of a line as the encoder takes them, the end included; only the end where the line is empty.
  /// A line that is too long is cut or refused, as `too_long` says; `number`: for messages.
  std::vector<int64_t> source_row(const std::string& line, LongLine too_long, int64_t number,
                                  std::vector<std::string>& remarks) const;
  /// How many tokens the output of that source may have.
  int64_t output_limit(const std::vector<int64_t>& source, const DecodeOptions& options) const;
  /// The n best of each source, whose lengths may differ.
  std::vector<std::vector<Translation>> translate_rows(const std::vector<std::vector<int64_t>>& sources,
                                                       const DecodeOptions& options,
                                                       const std::function<void()>& before_step);
  std::string text_of(const std::vector<int64_t>& tokens) const;
  EncoderDecoder& encoder_decoder() { return *model_; }

 protected:
  /// `extra_tokens`: known to the model beyond the tokenizer's, such as sentinels.
  SequenceTask(Recipe recipe, Tokenizers tokenizers, int64_t extra_tokens = 0);

  /// Adds the task's scores of what the model wrote: one text per source, and lists of references.
  virtual void score_texts(const Segments& written, const References& references,
                           Evaluation& result) const = 0;
  /// Sources that are the same and follow each other are one text with several references.
  virtual bool groups_references() const { return false; }
  /// A line that a user gives, as the model knows sources.
  virtual std::string source_of(const std::string& line) const { return line; }

  /// One split as pairs: tokenized, cut and framed as the model takes them.
  std::unique_ptr<Dataset> open_pairs(const Files& files, bool training) const;
  /// The best text for each source; long sources are cut, which is noted.
  Segments write(const Segments& sources, const DecodeOptions& decode, Evaluation& result);
  /// The scores of a metric (metric/registry.h) under these keys; texts (signatures) become notes.
  static void measure(const std::string& metric, const MetricOptions& options, const Segments& written,
                      const References& references, const std::vector<std::string>& keys, Evaluation& result);

  int64_t max_source() const;  ///< tokens of the text itself
  int64_t max_target() const;

 private:
  std::vector<std::vector<Translation>> translate_batch(const std::vector<const Tokens*>& sources,
                                                        const DecodeOptions& options);

  std::shared_ptr<EncoderDecoder> model_;
};

}  // namespace synthesizer
