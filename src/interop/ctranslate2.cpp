#include "interop/ctranslate2.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "interop/export_parts.h"
#include "model/positions.h"
#include "task/sequence_task.h"
#include "train/named_tensors.h"

namespace synthesizer {
namespace {

/// What model.bin is made of (ctranslate2/specs/model_spec.py, binary version 6).
constexpr uint32_t kBinaryVersion = 6, kSpecRevision = 7;
constexpr const char* kSpecName = "TransformerSpec";

/// The variables of model.bin in order of their names.
class Variables {
 public:
  void add(const std::string& name, const at::Tensor& tensor) {
    tensors_[name] = tensor.detach().to(at::kFloat).contiguous();
  }
  template <typename T>
  void number(const std::string& name, T value) {
    tensors_[name] = at::scalar_tensor(value, at::TensorOptions(c10::CppTypeToScalarType<T>::value));
  }

  void write(const std::string& path) const {
    AtomicFile file(path);
    put(file, kBinaryVersion);
    text(file, kSpecName);
    put(file, kSpecRevision);
    put(file, static_cast<uint32_t>(tensors_.size()));
    for (const auto& [name, tensor] : tensors_) {
      text(file, name);
      put(file, static_cast<uint8_t>(tensor.dim()));
      for (const int64_t size : tensor.sizes()) put(file, static_cast<uint32_t>(size));
      put(file, type_number(tensor.scalar_type()));
      put(file, static_cast<uint32_t>(tensor.nbytes()));
      file.write(tensor.const_data_ptr(), tensor.nbytes());
    }
    put(file, uint32_t{0});  // aliases
    file.commit();
  }

 private:
  template <typename T>
  static void put(AtomicFile& file, T value) {
    file.write(&value, sizeof(value));
  }
  static void text(AtomicFile& file, const std::string& text) {
    put(file, static_cast<uint16_t>(text.size() + 1));
    file.write(text.c_str(), text.size() + 1);
  }
  static uint8_t type_number(at::ScalarType type) {
    switch (type) {
      case at::kFloat: return 0;
      case at::kChar: return 1;
      case at::kShort: return 2;
      default: return 3;  // int32
    }
  }

  std::map<std::string, at::Tensor> tensors_;
};

int8_t activation_number(Activation activation) {
  switch (activation) {
    case Activation::relu:
    case Activation::gated_relu: return 0;
    case Activation::gelu_tanh:
    case Activation::gated_gelu_tanh: return 1;
    case Activation::swish: return 2;
    case Activation::gelu:
    case Activation::gated_gelu: break;
  }
  return 3;
}

class Exporter {
 public:
  Exporter(Task& task, const ModelOptions& model) : model_(model) {
    for (const NamedTensor& one : saved_tensors(task.model())) ours_[one.name] = one.tensor;
  }

  /// Everything but the vocabularies. `forbidden`: a token that is never to be written, or -1.
  Variables variables(int64_t forbidden) {
    side("encoder", model_.encoder_layers > 0 ? model_.encoder_layers : model_.layers);
    side("decoder", model_.decoder_layers > 0 ? model_.decoder_layers : model_.layers);
    const bool shared = ours_.contains("embedding.weight");
    const auto& source = ours_.at(shared ? "embedding.weight" : "source_embedding.weight");
    const auto& target = ours_.at(shared ? "embedding.weight" : "target_embedding.weight");
    all_.add("encoder/embeddings_0/weight", source);
    all_.number<int8_t>("encoder/embeddings_merge", 0);
    all_.number<int8_t>("encoder/multi_query_attention", 0);
    all_.add("decoder/embeddings/weight", target);
    all_.number<int8_t>("decoder/start_from_zero_embedding", 0);
    all_.number<int8_t>("decoder/scale_alibi", 0);
    all_.number<int8_t>("decoder/alibi", 0);
    all_.number<int8_t>("decoder/alibi_use_positive_positions", 0);
    all_.number<int16_t>("decoder/alignment_heads", 1);
    all_.number<int16_t>("decoder/alignment_layer", -1);
    const auto& output = ours_.contains("output.weight") ? ours_.at("output.weight") : target;
    all_.add("decoder/projection/weight", output);
    auto bias = ours_.contains("output.bias") ? ours_.at("output.bias").detach().clone()
                                              : at::zeros({output.size(0)});
    constexpr float kNever = -1e9F;  // finite: CTranslate2 may compute in half precision
    if (forbidden >= 0) bias[forbidden] = kNever;
    all_.add("decoder/projection/bias", bias);
    return all_;
  }

 private:
  void side(const std::string& name, int64_t layers) {
    all_.number<int16_t>(name + "/num_heads", static_cast<int16_t>(model_.heads));
    all_.number<int8_t>(name + "/pre_norm", model_.norm_place == NormPlace::pre ? 1 : 0);
    all_.number<int8_t>(name + "/activation", activation_number(model_.activation));
    if (model_.embedding_scale) {
      all_.number<float>(name + "/scale_embeddings", std::sqrt(static_cast<float>(model_.width)));
    } else {
      all_.number<int8_t>(name + "/scale_embeddings", 0);
    }
    if (const at::Tensor places = positions(name); places.defined())
      all_.add(name + "/position_encodings/encodings", places);
    if (model_.norm_place == NormPlace::pre) norm(name + "/layer_norm", name + ".norm");
    if (model_.embedding_norm) norm(name + "/layernorm_embedding", name + ".embedding_norm");
    for (int64_t n = 0; n < layers; ++n) layer(name, n);
  }

  at::Tensor positions(const std::string& side) const {
    switch (model_.positions) {
      case PositionKind::sinusoidal: return sinusoids(model_.max_length, model_.width);
      case PositionKind::split_sinusoidal: return split_sinusoids(model_.max_length, model_.width);
      case PositionKind::learned: return ours_.at(side + ".positions.weight");
      case PositionKind::relative:
      case PositionKind::none: break;
    }
    return {};
  }

  void layer(const std::string& side, int64_t n) {
    const std::string theirs = fmt::format("{}/layer_{}/", side, n),
                      ours = fmt::format("{}.layers.{}.", side, n);
    norm(theirs + "self_attention/layer_norm", ours + "attention_norm");
    const std::string logits = ours + "attention.logits.V.";
    linear(theirs + "self_attention/linear_0", {logits + "query", logits + "key", ours + "attention.value"});
    linear(theirs + "self_attention/linear_1", {ours + "attention.output"});
    if (model_.positions == PositionKind::relative) {
      constexpr int32_t kFarthestDistance = 128;
      all_.add(theirs + "self_attention/relative_attention_bias", ours_.at(side + ".positions.relative"));
      all_.number<int32_t>(theirs + "self_attention/relative_attention_max_distance", kFarthestDistance);
    }
    if (side == "decoder") {
      norm(theirs + "attention/layer_norm", ours + "cross_norm");
      linear(theirs + "attention/linear_0", {ours + "cross.query"});
      linear(theirs + "attention/linear_1", {ours + "cross.key", ours + "cross.value"});
      linear(theirs + "attention/linear_2", {ours + "cross.output"});
    }
    norm(theirs + "ffn/layer_norm", ours + "feed_forward_norm");
    const bool gated = ours_.contains(ours + "feed_forward.gate.weight");
    linear(theirs + "ffn/linear_0", {ours + (gated ? "feed_forward.gate" : "feed_forward.in")});
    if (gated) linear(theirs + "ffn/linear_0_noact", {ours + "feed_forward.in"});
    linear(theirs + "ffn/linear_1", {ours + "feed_forward.out"});
  }

  /// A norm without "beta" is an RMS norm there.
  void norm(const std::string& theirs, const std::string& ours) {
    const auto& weight = ours_.at(ours + ".weight");
    all_.add(theirs + "/gamma", weight);
    if (model_.norm == NormKind::rms) return;
    all_.add(theirs + "/beta",
             ours_.contains(ours + ".bias") ? ours_.at(ours + ".bias") : at::zeros_like(weight));
  }

  /// Maps of the same input as one; a bias that one of them lacks is zero.
  void linear(const std::string& theirs, const std::vector<std::string>& ours) {
    std::vector<at::Tensor> weights, biases;
    bool any_bias = false;
    for (const std::string& name : ours) {
      weights.push_back(ours_.at(name + ".weight"));
      const auto bias = ours_.find(name + ".bias");
      any_bias |= bias != ours_.end();
      biases.push_back(bias != ours_.end() ? bias->second : at::zeros({weights.back().size(0)}));
    }
    all_.add(theirs + "/weight", at::cat(weights));
    if (any_bias) all_.add(theirs + "/bias", at::cat(biases));
  }

  const ModelOptions& model_;
  std::map<std::string, at::Tensor> ours_;
  Variables all_;
};

/// Every token as a word of its own.
std::vector<std::string> words_of(const Tokenizer& tokenizer, int64_t size) {
  std::vector<std::string> words;
  std::set<std::string> seen;
  for (int64_t n = 0; n < size; ++n) {
    std::string word = n < tokenizer.size() ? tokenizer.piece(static_cast<Token>(n)) : "";
    if (word.empty() || !seen.insert(word).second) {
      word = fmt::format("<unused_{}>", n);
      seen.insert(word);
    }
    words.push_back(std::move(word));
  }
  return words;
}

void check_exportable(const ModelOptions& model) {
  check_vanilla_layers(model, {Side::encoder, Side::decoder}, "CTranslate2");
  if (model.recurrent_depth > 0)
    invalid("this run has model.recurrent_depth, which CTranslate2 does not support");
}

}  // namespace

void export_ctranslate2(Task& task, const std::string& folder) {
  c10::NoGradGuard no_grad;
  auto* sequences = dynamic_cast<SequenceTask*>(&task);
  if (!sequences) {
    invalid(fmt::format("a {} run cannot be exported to CTranslate2: only encoder-decoder runs can",
                        task.recipe().task));
  }
  const ModelOptions& model = task.recipe().model;
  check_exportable(model);
  const auto& [source, target] = task.tokenizers();
  Exporter exporter(task, model);
  const Variables variables = exporter.variables(target->forbidden());
  const auto& encoder_decoder = dynamic_cast<const EncoderDecoder&>(task.model());
  const auto target_words = words_of(*target, encoder_decoder.output().tensor().size(0));
  const bool shared = source->shares_vocabulary(*target);
  const auto source_words = shared ? target_words : words_of(*source, source->size());
  auto word = [&](Token token) { return target_words[static_cast<size_t>(token)]; };
  const nlohmann::ordered_json config = {{"unk_token", word(std::max<Token>(0, target->unknown()))},
                                         {"bos_token", word(target->begin())},
                                         {"eos_token", word(target->end())},
                                         {"decoder_start_token", word(target->begin())},
                                         {"add_source_bos", false},
                                         {"add_source_eos", true},
                                         {"layer_norm_epsilon", model.norm_epsilon},
                                         {"multi_query_attention", false}};
  auto write_json = [&](const char* name, const nlohmann::ordered_json& value) {
    write_file(folder + "/" + name, value.dump(2) + "\n");
  };
  write_new_folder(folder, [&] {
    if (shared) {
      write_json("shared_vocabulary.json", target_words);
    } else {
      write_json("source_vocabulary.json", source_words);
      write_json("target_vocabulary.json", target_words);
    }
    write_json("config.json", config);
    variables.write(folder + "/model.bin");
  });
}

}  // namespace synthesizer
