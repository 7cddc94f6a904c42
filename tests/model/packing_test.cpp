// Batches whose padding is left out, against their texts one by one, which have none.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "attention/packed_rows.h"
#include "model/classifier.h"
#include "model/encoder_decoder.h"
#include "model/models.h"

namespace synthesizer::testing {
namespace {

TEST(PackedRows, AreTheRowsThatAreNoPadding) {
  const PackedRows rows(at::tensor({2, 0, 3}, at::kLong), 3);
  EXPECT_EQ(rows.count(), 5);
  const auto padded = at::arange(9).view({3, 3, 1}).to(at::kDouble);
  const auto packed = rows.pack(padded);
  EXPECT_TRUE(at::equal(packed, at::tensor({0., 1., 6., 7., 8.}, at::kDouble).view({5, 1})));
  auto back = padded.clone();
  back[0][2] = 0;
  back[1].zero_();
  EXPECT_TRUE(at::equal(rows.unpack(packed), back));
}

TEST(PackedRows, CarryGradientsBothWays) {
  const PackedRows rows(at::tensor({1, 3}, at::kLong), 3);
  auto padded = at::randn({2, 3, 4}).requires_grad_();
  const auto slope = at::randn({4, 4});
  rows.pack(padded).backward(slope);
  EXPECT_TRUE(at::equal(padded.grad(), rows.unpack(slope)));
  auto packed = at::randn({4, 4}).requires_grad_();
  const auto other = at::randn({2, 3, 4});
  rows.unpack(packed).backward(other);
  EXPECT_TRUE(at::equal(packed.grad(), rows.pack(other)));
}

TEST(PackedRows, MayBeNone) {
  const PackedRows rows(at::tensor({0, 0}, at::kLong), 3);
  EXPECT_EQ(rows.pack(at::ones({2, 3, 4})).sizes(), at::IntArrayRef({0, 4}));
  EXPECT_TRUE(at::equal(rows.unpack(at::ones({0, 4})), at::zeros({2, 3, 4})));
}

TEST(PackedRows, OfEqualLengthsAreTakenTogether) {
  const PackedRows rows(at::tensor({2, 2, 0, 3, 2}, at::kLong), 3, PackedRows::Bits::alone);
  const auto packed = at::arange(9).view({9, 1}).to(at::kDouble);
  std::vector<std::vector<int64_t>> shapes;
  const auto result = rows.for_each_length(packed, [&](const at::Tensor& own) {
    shapes.push_back(own.sizes().vec());
    return own + 100 * static_cast<double>(shapes.size());
  });
  EXPECT_EQ(shapes, (std::vector<std::vector<int64_t>>{{2, 2, 1}, {1, 3, 1}, {1, 2, 1}}));
  const auto added = at::tensor({100., 100., 100., 100., 200., 200., 200., 300., 300.}, at::kDouble);
  EXPECT_TRUE(at::equal(result, packed + added.view({9, 1})));
}

TEST(PackedRows, AreWorthItWhereThereIsPadding) {
  EXPECT_TRUE(rows_worth_packing(at::tensor({10, 5}, at::kLong), 10));
  EXPECT_FALSE(rows_worth_packing(at::tensor({10, 10}, at::kLong), 10));
  EXPECT_FALSE(rows_worth_packing({}, 10));
  at::NoGradGuard no_grad;
  EXPECT_FALSE(rows_worth_packing(at::tensor({10, 5}, at::kLong), 10));
}

struct Sum {
  at::Tensor loss;
  std::vector<at::Tensor> gradients;
};

template <class Model, class Loss>
Sum sum_of(Model& model, const Loss& loss) {
  model.zero_grad();
  Sum sum{loss(), {}};
  sum.loss.backward();
  for (const auto& parameter : model.parameters()) {
    sum.gradients.push_back(parameter.grad().defined() ? parameter.grad().clone()
                                                       : at::zeros_like(parameter));
  }
  return sum;
}

template <class Model>
void expect_same(Model& model, const Sum& together, const Sum& apart) {
  EXPECT_TRUE(at::allclose(together.loss, apart.loss, 1e-10, 1e-10));
  const auto names = model.named_parameters().keys();
  for (size_t n = 0; n < names.size(); ++n)
    EXPECT_TRUE(at::allclose(together.gradients[n], apart.gradients[n], 1e-8, 1e-9)) << names[n];
}

TEST(PackedModels, GiveTheLossesAndGradientsOfTheirTextsAlone) {
  for (const ModelOptions& o : kinds_of_models()) {
    SCOPED_TRACE(o.attention.front());
    at::manual_seed(5);
    EncoderDecoder model(o, kVocabulary, kVocabulary, true);
    model.to(at::kDouble);
    model.train();
    const auto source = at::randint(kVocabulary, {3, 7}), target = at::randint(kVocabulary, {3, 6});
    const std::vector<int64_t> sources = {7, 1, 3}, targets = {2, 6, 1};
    const auto source_lengths = at::tensor(sources, at::kLong),
               target_lengths = at::tensor(targets, at::kLong);
    const auto weight = at::randn({3, 6, o.width}, at::kDouble);  // of each output in the loss

    const Sum together = sum_of(model, [&] {
      const auto hidden =
          model.decode(target, target_lengths, model.encode(source, source_lengths), source_lengths);
      auto loss = at::zeros({}, at::kDouble);
      for (int64_t b = 0; b < 3; ++b) {
        const int64_t length = targets[static_cast<size_t>(b)];
        loss = loss + (hidden[b].narrow(0, 0, length) * weight[b].narrow(0, 0, length)).sum();
      }
      return loss;
    });
    const Sum apart = sum_of(model, [&] {
      auto loss = at::zeros({}, at::kDouble);
      for (int64_t b = 0; b < 3; ++b) {
        const int64_t from = sources[static_cast<size_t>(b)], to = targets[static_cast<size_t>(b)];
        const auto hidden = model.decode(target.narrow(0, b, 1).narrow(1, 0, to), {},
                                         model.encode(source.narrow(0, b, 1).narrow(1, 0, from), {}), {});
        loss = loss + (hidden[0] * weight[b].narrow(0, 0, to)).sum();
      }
      return loss;
    });
    expect_same(model, together, apart);
  }
}

TEST(PackedModels, ClassifyAsTheirTextsAlone) {
  for (ModelOptions o : kinds_of_models()) {
    for (const Pooling pooling : {Pooling::mean, Pooling::first}) {
      SCOPED_TRACE(o.attention.front());
      o.pooling = pooling;
      at::manual_seed(5);
      Classifier model(o, kVocabulary, 3);
      model.to(at::kDouble);
      model.train();
      const auto tokens = at::randint(kVocabulary, {3, 8});
      const std::vector<int64_t> lengths = {8, 2, 1};
      const auto weight = at::randn({3, o.width}, at::kDouble);
      const Sum together = sum_of(
          model, [&] { return (model.forward(tokens, at::tensor(lengths, at::kLong)) * weight).sum(); });
      const Sum apart = sum_of(model, [&] {
        auto loss = at::zeros({}, at::kDouble);
        for (int64_t b = 0; b < 3; ++b) {
          const auto text = tokens.narrow(0, b, 1).narrow(1, 0, lengths[static_cast<size_t>(b)]);
          loss = loss + (model.forward(text, {})[0] * weight[b]).sum();
        }
        return loss;
      });
      expect_same(model, together, apart);
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
