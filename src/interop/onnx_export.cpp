#include "interop/onnx_export.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "interop/export_parts.h"
#include "interop/onnx_attention.h"
#include "interop/onnx_stack.h"
#include "model/classifier.h"
#include "model/encoder_decoder.h"
#include "model/language_model.h"
#include "task/tokenizers.h"
#include "train/named_tensors.h"

namespace synthesizer {
namespace {

using Json = nlohmann::ordered_json;
using WeightsByName = std::map<std::string, at::Tensor>;

struct OnnxFile {
  std::string name;
  OnnxGraph graph;
};

/// What stands for a text of one of the inputs: in config.json, under the input's name.
struct OnnxText {
  std::string input;
  const Tokenizer& tokenizer;
  int64_t vocabulary;  ///< tokens that the model knows: the tokenizer's, and sentinels
  std::string vocabulary_file;
  Json begin, end;  ///< tokens before and after the text; null: none
};

/// What there is to write.
struct OnnxFolder {
  std::vector<OnnxFile> files;
  std::vector<OnnxText> texts;
};

/// Hidden states …×D to logits …×V. A tied table is stored as the embedding has it, and transposed in the
/// graph.
OnnxValue onnx_logits(OnnxModel& model, const OnnxValue& hidden, const std::string& embedding) {
  model.graph.set_scope("output");
  if (!model.options.tied) return model.linear(hidden, "output");
  const OnnxValue table = model.transpose(model.weight(embedding + ".weight"), {1, 0});
  const OnnxValue logits = model.matmul(hidden, table);
  return model.has("output.bias") ? model.add(logits, model.weight("output.bias")) : logits;
}

OnnxFile onnx_language_model(const ModelOptions& options, const WeightsByName& weights, int64_t vocabulary) {
  OnnxModel model("language-model", options, weights);
  const OnnxValue tokens = model.graph.input("tokens", OnnxType::int64, {"batch", "length"});
  const OnnxValue hidden = onnx_decoder(model, onnx_embedding(model, tokens, "embedding"), nullptr);
  model.graph.output(onnx_logits(model, hidden, "embedding"), "logits", OnnxType::float32,
                     {"batch", "length", vocabulary});
  return {"model.onnx", std::move(model.graph)};
}

OnnxFile onnx_classifier(const ModelOptions& options, const WeightsByName& weights, int64_t classes) {
  OnnxModel model("classifier", options, weights);
  OnnxGraph& graph = model.graph;
  const OnnxValue tokens = graph.input("tokens", OnnxType::int64, {"batch", "length"});
  const OnnxValue lengths = graph.input("lengths", OnnxType::int64, {"batch"});
  const OnnxValue hidden = onnx_encoder(model, onnx_embedding(model, tokens, "embedding"), lengths);
  graph.set_scope("pooled");
  OnnxValue pooled;
  if (options.pooling == Pooling::mean) {
    const OnnxValue real = onnx_real(model, lengths, model.places(model.size_of(tokens, 1)));
    const OnnxValue rows = graph.node("Where", {model.unsqueeze(real, {2}), hidden, graph.number(0)});
    const OnnxValue sum = graph.node("ReduceSum", {rows, graph.wholes({1})}, {{"keepdims", int64_t{0}}});
    const OnnxValue count = graph.node("Cast", {model.unsqueeze(lengths, {1})},
                                       {{"to", static_cast<int64_t>(OnnxType::float32)}});
    pooled = graph.node("Div", {sum, count});
  } else {
    pooled = graph.node("Gather", {hidden, graph.whole(0)}, {{"axis", int64_t{1}}});
    if (options.pooling == Pooling::first_tanh) pooled = graph.node("Tanh", {model.linear(pooled, "pooler")});
  }
  graph.output(model.linear(pooled, "classes"), "logits", OnnxType::float32, {"batch", classes});
  return {"model.onnx", std::move(graph)};
}

/// `embedding`: the name of the module that the side's tokens go through.
OnnxFile onnx_encoder_file(const ModelOptions& options, const WeightsByName& weights,
                           const std::string& embedding) {
  OnnxModel model("encoder", options, weights);
  const OnnxValue source = model.graph.input("source", OnnxType::int64, {"batch", "source_length"});
  const OnnxValue lengths = model.graph.input("source_lengths", OnnxType::int64, {"batch"});
  const OnnxValue memory = onnx_encoder(model, onnx_embedding(model, source, embedding), lengths);
  model.graph.output(memory, "memory", OnnxType::float32, {"batch", "source_length", options.width});
  return {"encoder.onnx", std::move(model.graph)};
}

OnnxFile onnx_decoder_file(const ModelOptions& options, const WeightsByName& weights,
                           const std::string& embedding, int64_t vocabulary) {
  OnnxModel model("decoder", options, weights);
  OnnxGraph& graph = model.graph;
  const OnnxMemory memory = {
      graph.input("memory", OnnxType::float32, {"batch", "source_length", options.width}),
      graph.input("source_lengths", OnnxType::int64, {"batch"})};
  const OnnxValue target = graph.input("target", OnnxType::int64, {"batch", "length"});
  const OnnxValue hidden = onnx_decoder(model, onnx_embedding(model, target, embedding), &memory);
  graph.output(onnx_logits(model, hidden, embedding), "logits", OnnxType::float32,
               {"batch", "length", vocabulary});
  return {"decoder.onnx", std::move(graph)};
}

OnnxFolder onnx_folder(Task& task) {
  const ModelOptions& options = task.recipe().model;
  const auto& [source, target] = task.tokenizers();
  WeightsByName weights;
  for (const NamedTensor& one : saved_tensors(task.model())) weights[one.name] = one.tensor;
  auto rows = [&](const std::string& name) { return weights.at(name + ".weight").size(0); };
  auto check_attention = [&](Side side) {
    for (const std::string& spec : attention_of_layers(options, side)) check_onnx_attention(spec);
  };
  OnnxFolder folder;
  if (dynamic_cast<const LanguageModel*>(&task.model())) {
    check_attention(Side::decoder);
    const int64_t size = rows("embedding");
    const bool stream = task.recipe().data.sequence == SequenceKind::stream;
    const Token end = stream ? target->line_end() : target->end();
    folder.files.push_back(onnx_language_model(options, weights, size));
    folder.texts.push_back({"tokens", *target, size, "vocabulary.json", target->begin(), end});
  } else if (dynamic_cast<const Classifier*>(&task.model())) {
    check_attention(Side::encoder);
    folder.files.push_back(onnx_classifier(options, weights, rows("classes")));
    folder.texts.push_back(
        {"tokens", *source, rows("embedding"), "vocabulary.json", source->begin(), source->end()});
  } else if (dynamic_cast<const EncoderDecoder*>(&task.model())) {
    check_attention(Side::encoder);
    check_attention(Side::decoder);
    const bool shared = weights.contains("embedding.weight");
    const std::string of_source = shared ? "embedding" : "source_embedding";
    const std::string of_target = shared ? "embedding" : "target_embedding";
    const bool one_file = source->shares_vocabulary(*target);
    folder.files.push_back(onnx_encoder_file(options, weights, of_source));
    folder.files.push_back(onnx_decoder_file(options, weights, of_target, rows(of_target)));
    folder.texts.push_back({"source", *source, rows(of_source),
                            one_file ? "vocabulary.json" : "source_vocabulary.json", nullptr, source->end()});
    folder.texts.push_back({"target", *target, rows(of_target),
                            one_file ? "vocabulary.json" : "target_vocabulary.json", target->begin(),
                            target->end()});
  } else {
    invalid(fmt::format("a {} run cannot be exported to ONNX", task.recipe().task));
  }
  return folder;
}

/// Every token's piece; sentinels, which the tokenizer does not know, have none.
Json onnx_pieces(const OnnxText& text) {
  Json pieces = Json::array();
  for (int64_t n = 0; n < text.vocabulary; ++n)
    pieces.push_back(n < text.tokenizer.size() ? text.tokenizer.piece(static_cast<Token>(n)) : "");
  return pieces;
}

Json onnx_config(Task& task, const OnnxFolder& folder) {
  auto token = [](Token number) { return number < 0 ? Json() : Json(number); };
  Json files = Json::object(), texts = Json::object();
  for (const OnnxFile& file : folder.files)
    files[file.name] = {{"inputs", file.graph.inputs()}, {"outputs", file.graph.outputs()}};
  for (const OnnxText& text : folder.texts) {
    texts[text.input] = {{"begin", text.begin},
                         {"end", text.end},
                         {"pad", 0},
                         {"unknown", token(text.tokenizer.unknown())},
                         {"forbidden", token(text.tokenizer.forbidden())},
                         {"vocabulary", text.vocabulary_file},
                         {"vocabulary_size", text.vocabulary}};
  }
  Json config = {{"task", task.recipe().task},
                 {"max_length", task.recipe().model.max_length},
                 {"files", files},
                 {"texts", texts}};
  if (const auto* classifier = dynamic_cast<const TextClassifier*>(&task))
    config["labels"] = classifier->labels();
  return config;
}

}  // namespace

void export_onnx(Task& task, const std::string& folder) {
  c10::NoGradGuard no_grad;
  const OnnxFolder contents = onnx_folder(task);
  const Json config = onnx_config(task, contents);
  auto write_json = [&](const std::string& name, const Json& value) {
    write_file(folder + "/" + name, value.dump(2) + "\n");
  };
  write_new_folder(folder, [&] {
    for (const OnnxFile& file : contents.files) file.graph.write(folder + "/" + file.name);
    for (const OnnxText& text : contents.texts) write_json(text.vocabulary_file, onnx_pieces(text));
    write_json("config.json", config);
    save_tokenizers(folder, task.tokenizers());
  });
}

}  // namespace synthesizer
