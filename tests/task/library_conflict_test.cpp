// Libraries that live in one program leave each other alone; see cmake/SentencePiece.cmake.

#include <ATen/ATen.h>
#include <c10/util/Logging.h>
#include <gtest/gtest.h>

#include "text/tokenizer.h"

C10_DECLARE_bool(caffe2_use_fatal_for_enforce);
C10_DECLARE_bool(logtostderr);

namespace synthesizer {
namespace {

TEST(Neighbours, SentencePieceDoesNotWriteOverLibTorch) {
  const auto lines = [](const std::function<void(std::string_view)>& give) {
    for (int i = 0; i < 50; ++i) give("the quick brown fox jumps over the lazy dog");
  };
  train_tokenizer({TokenizerKind::bpe, 40, 1}, lines);
  EXPECT_FALSE(FLAGS_caffe2_use_fatal_for_enforce);
  EXPECT_FALSE(FLAGS_logtostderr);
  // With that flag on, this ends the program.
  EXPECT_THROW(at::empty({int64_t{1} << 50}), std::exception);
}

}  // namespace
}  // namespace synthesizer
