#pragma once

#include "model/encoder_decoder.h"
#include "task/task.h"

namespace synthesizer {

/// Translation: pairs of lines, an encoder-decoder, beam search, BLEU and chrF.
class TranslationTask : public Task, public Translator {
 public:
  TranslationTask(Recipe recipe, Tokenizers tokenizers);

  torch::nn::Module& model() override { return *model_; }
  std::unique_ptr<Dataset> open(const std::vector<std::string>& paths, bool training) const override;
  LossSum loss(const Batch& batch) override;
  Evaluation evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) override;
  std::vector<double> log_probabilities(const std::vector<std::vector<std::string>>& examples) override;
  std::vector<std::string> watchable() const override { return {"loss", "bleu", "chrf"}; }
  std::vector<std::vector<Translation>> translate(const std::vector<std::string>& lines,
                                                  const DecodeOptions& options, int64_t batch_tokens,
                                                  LongLine too_long, int64_t first_line,
                                                  std::vector<std::string>& remarks) override;

 private:
  int64_t max_source() const;  ///< tokens of the text itself
  int64_t max_target() const;
  Tokens encode_line(const std::string& line, int64_t number, LongLine too_long,
                     std::vector<std::string>& remarks) const;
  std::vector<std::vector<Translation>> translate_batch(const std::vector<const Tokens*>& sources,
                                                        const DecodeOptions& options);

  std::shared_ptr<EncoderDecoder> model_;
};

}  // namespace synthesizer
