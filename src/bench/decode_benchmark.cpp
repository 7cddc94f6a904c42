#include "bench/decode_benchmark.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>

#include "base/range.h"
#include "decode/beam.h"
#include "decode/greedy.h"
#include "model/prepare.h"

namespace synthesizer::bench {

StepSetting decode_setting(int64_t source_length, int64_t length) {
  StepSetting setting = find_step_setting("translation");
  setting.length = length;
  setting.model.max_length = std::max(length + 1, source_length);  // with the end
  return setting;
}

DecodeBenchmark::DecodeBenchmark(const StepSetting& setting, const std::string& attention,
                                 int64_t source_length)
    : length_(setting.length) {
  c10::NoGradGuard no_grad;
  ModelOptions options = setting.model;
  options.attention = {attention};
  at::manual_seed(1);
  model_ = std::make_shared<EncoderDecoder>(options, setting.vocabulary, setting.vocabulary, true);
  // A tied model with drawn weights says the last token over and over, which every peer would repeat whatever
  // it did wrong. With every other sign of its last norm turned, what it says depends on everything.
  model_->named_parameters()["decoder.norm.weight"].slice(0, 1, options.width, 2).neg_();
  source_ = at::randint(kEnd + 1, setting.vocabulary, {kSentences, source_length}, at::kLong);
}

void DecodeBenchmark::prepare(std::optional<Quantization> kind) {
  if (kind) quantize(*model_, *kind);
  prepare_for_inference(*model_);
}

Decoded DecodeBenchmark::decode(int64_t beam, int64_t batch) {
  check_between("batch", batch, 1, kSentences);
  c10::NoGradGuard no_grad;
  DecodeOptions options;
  options.beam = options.nbest = beam;
  options.min_length = options.max_length = length_;
  const std::vector<int64_t> limits(static_cast<size_t>(batch), length_);
  const auto begin = std::chrono::steady_clock::now();
  const auto steps = model_->start(model_->encode(source_.narrow(0, 0, batch), {}), {});
  const auto search = beam == 1 ? greedy_search : beam_search;
  auto outputs = search(*steps, kBegin, kEnd, limits, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {seconds, batch * (length_ + 1), std::move(outputs)};
}

}  // namespace synthesizer::bench
