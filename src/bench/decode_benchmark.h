#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/step_setting.h"
#include "decode/hypothesis.h"
#include "model/encoder_decoder.h"

namespace synthesizer::bench {

struct Decoded {
  double seconds;
  int64_t tokens;  ///< with the end of every sentence, which is asked for like any token
  std::vector<std::vector<Hypothesis>> outputs;
};

/// The setting "translation" with a max_length for such sources and outputs of `length` tokens.
StepSetting decode_setting(int64_t source_length, int64_t length);

/// A translation model with random weights and sentences for it, all of one length: what decoding is timed
/// on.
class DecodeBenchmark {
 public:
  static constexpr int64_t kBegin = 1, kEnd = 2, kSentences = 32;

  DecodeBenchmark(const StepSetting& setting, const std::string& attention, int64_t source_length);

  EncoderDecoder& model() { return *model_; }
  /// For inference. Comes before decode().
  void prepare(std::optional<Quantization> kind);
  const at::Tensor& source() const { return source_; }

  /// The first `batch` sentences, to outputs of the setting's length: no more, no less.
  Decoded decode(int64_t beam, int64_t batch);

 private:
  std::shared_ptr<EncoderDecoder> model_;
  at::Tensor source_;  ///< kSentences×source_length
  int64_t length_;
};

}  // namespace synthesizer::bench
