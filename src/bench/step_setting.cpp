#include "bench/step_setting.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "model/classifier.h"
#include "model/encoder_decoder.h"
#include "model/language_model.h"

namespace synthesizer::bench {
namespace {

ModelOptions model_of(int64_t width, int64_t heads, int64_t layers, int64_t feed_forward, int64_t max_length,
                      Activation activation, PositionKind positions, double dropout) {
  ModelOptions model;
  model.width = width;
  model.heads = heads;
  model.layers = layers;
  model.feed_forward = feed_forward;
  model.max_length = max_length;
  model.activation = activation;
  model.positions = positions;
  model.dropout = dropout;
  return model;
}

TrainOptions training() {
  TrainOptions train;
  train.optimizer = OptimizerKind::adamw;
  train.schedule = Schedule::constant;
  train.warmup = 0;
  train.learning_rate = 1e-4;
  train.weight_decay = 0.1;
  train.label_smoothing = 0;
  return train;
}

at::Tensor drawn(int64_t below, at::IntArrayRef shape) {
  return at::randint(below, shape, at::kLong);
}

/// A model, what it is fed with, and its loss.
struct Fed {
  std::shared_ptr<torch::nn::Module> model;
  StepBenchmark::Tokens tokens;
  std::function<LossSum()> loss;
};

/// Of every row of `target` all but the last token are read, all but the first predicted.
LossSum next_tokens(const at::Tensor& hidden, const Output& output, const at::Tensor& target) {
  return cross_entropy(hidden.flatten(0, 1), output.weight(), output.bias(),
                       target.narrow(1, 1, target.size(1) - 1).flatten(), 0);
}
at::Tensor read(const at::Tensor& target) {
  return target.narrow(1, 0, target.size(1) - 1);
}

Fed language_model(const StepSetting& s, const ModelOptions& options) {
  auto model = std::make_shared<LanguageModel>(options, s.vocabulary);
  const auto target = drawn(s.vocabulary, {s.batch, s.length + 1});
  return {model, {{"target", target}}, [=] {
            return next_tokens(model->forward(read(target)), model->output(), target);
          }};
}

Fed translation(const StepSetting& s, const ModelOptions& options) {
  auto model = std::make_shared<EncoderDecoder>(options, s.vocabulary, s.vocabulary, true);
  const auto source = drawn(s.vocabulary, {s.batch, s.length});
  const auto target = drawn(s.vocabulary, {s.batch, s.length + 1});
  return {model, {{"source", source}, {"target", target}}, [=] {
            const auto hidden = model->decode(read(target), {}, model->encode(source, {}), {});
            return next_tokens(hidden, model->output(), target);
          }};
}

Fed classification(const StepSetting& s, const ModelOptions& options) {
  auto model = std::make_shared<Classifier>(options, s.vocabulary, s.classes);
  const auto source = drawn(s.vocabulary, {s.batch, s.length}), labels = drawn(s.classes, {s.batch});
  return {model, {{"source", source}, {"labels", labels}}, [=] {
            return cross_entropy(model->forward(source), model->classes(), model->class_bias(), labels, 0);
          }};
}

}  // namespace

const std::vector<StepSetting>& step_settings() {
  static const std::vector<StepSetting> settings = {
      {"demo", "language-model", "the demo's language model, 12 samples of 64", 68, 12, 64, 0,
       model_of(128, 4, 4, 512, 64, Activation::gelu, PositionKind::learned, 0), training()},
      {"translation", "translation", "Transformer base, 32 sentences of 64 tokens on both sides", 32000, 32,
       64, 0, model_of(512, 8, 6, 2048, 64, Activation::relu, PositionKind::sinusoidal, 0.1), training()},
      {"encoder", "classification", "an encoder of 12 layers, 4 texts of 512", 32000, 4, 512, 2,
       model_of(768, 12, 12, 3072, 512, Activation::gelu, PositionKind::learned, 0.1), training()},
  };
  return settings;
}

const StepSetting& find_step_setting(const std::string& name) {
  std::vector<std::string> names;
  for (const StepSetting& setting : step_settings()) {
    if (setting.name == name) return setting;
    names.push_back(setting.name);
  }
  invalid(fmt::format("no setting '{}': {}", name, fmt::join(names, ", ")));
}

StepBenchmark::StepBenchmark(const StepSetting& setting, const std::string& attention, ProcessGroup* group)
    : group_(group) {
  ModelOptions options = setting.model;
  options.attention = {attention};
  at::manual_seed(1);
  auto family = setting.task == "translation"      ? translation
                : setting.task == "classification" ? classification
                                                   : language_model;
  Fed fed = family(setting, options);
  model_ = std::move(fed.model);
  tokens_ = std::move(fed.tokens);
  stepper_ = std::make_unique<Stepper>(
      *model_, setting.train, options.width, 1, [loss = std::move(fed.loss)](const Batch&) { return loss(); },
      group);
}

int64_t StepBenchmark::exchange() {
  int64_t count = 0;
  for (const at::Tensor& parameter : model_->parameters()) count += parameter.numel();
  // In pieces as large as the buckets that a step sends.
  constexpr int64_t kBucketBytes = int64_t{25} << 20, kNumberBytes = sizeof(float);
  if (group_) group_->all_reduce_sum(at::zeros({count}).split(kBucketBytes / kNumberBytes));
  return count * kNumberBytes;
}

StepSums StepBenchmark::step(bool dropout) {
  model_->train(dropout);
  return stepper_->step(++steps_, [] { return Batch(); });
}

}  // namespace synthesizer::bench
