// One prepared model and many threads: each decodes with a state of its own and gets what one thread alone
// gets. Run under ThreadSanitizer by ./run test thread.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "base/error.h"
#include "decode/beam.h"
#include "decode/greedy.h"
#include "model/encoder_decoder.h"
#include "model/prepare.h"

namespace synthesizer {
namespace {

constexpr int64_t kWords = 40, kThreads = 16;
using TokenRows = std::vector<std::vector<int64_t>>;

class PreparedModel : public ::testing::TestWithParam<std::tuple<const char*, std::optional<Quantization>>> {
 protected:
  PreparedModel() {
    at::manual_seed(3);
    ModelOptions options;
    options.width = 32;
    options.heads = 4;
    options.layers = 2;
    options.feed_forward = 64;
    options.max_length = 24;
    options.attention = {std::get<0>(GetParam())};
    model_ = std::make_shared<EncoderDecoder>(options, kWords, kWords, true);
    if (const auto kind = std::get<1>(GetParam())) quantize(*model_, *kind);
    prepare_for_inference(*model_);
  }

  /// All hypotheses of some sentences, of different lengths, with that beam.
  TokenRows decoded(int64_t beam) const {
    c10::NoGradGuard no_grad;
    const auto source = at::arange(3 * 10, at::kLong).remainder(kWords).view({3, 10});
    const auto lengths = at::tensor({10, 7, 4}, at::kLong);
    DecodeOptions options;
    options.beam = beam;
    const auto steps = model_->start(model_->encode(source, lengths), lengths);
    const auto search = beam == 1 ? greedy_search : beam_search;
    TokenRows rows;
    for (const auto& sentence : search(*steps, 1, 2, {20, 20, 20}, options)) {
      for (const Hypothesis& one : sentence) rows.push_back(one.tokens);
    }
    return rows;
  }

 private:
  std::shared_ptr<EncoderDecoder> model_;
};

TEST_P(PreparedModel, GivesEveryThreadWhatOneAloneGets) {
  const TokenRows greedy = decoded(1), beam = decoded(4);
  std::array<bool, kThreads> same{};
  std::vector<std::thread> threads;
  for (bool& one : same) {
    threads.emplace_back([&] {
      at::init_num_threads();
      one = decoded(1) == greedy && decoded(4) == beam;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(same, ::testing::Each(true));
}

INSTANTIATE_TEST_SUITE_P(Models, PreparedModel,
                         ::testing::Combine(::testing::Values("V", "R", "FR", "D+V", "light-conv"),
                                            ::testing::Values(std::nullopt, Quantization::int8,
                                                              Quantization::bfloat16)));

TEST(PreparedModels, RefuseGradients) {
  ModelOptions options;
  options.width = 16;
  options.heads = 2;
  options.layers = 1;
  options.feed_forward = 16;
  options.max_length = 8;
  EncoderDecoder model(options, kWords, kWords, true);
  prepare_for_inference(model);
  EXPECT_THROW(model.encode(at::ones({1, 4}, at::kLong), {}), InvalidInput);
}

}  // namespace
}  // namespace synthesizer
