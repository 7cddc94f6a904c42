#include "serve/served_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "model/layers_of.h"
#include "model/options.h"
#include "model/own_memory.h"
#include "model/prepare.h"
#include "serve/error.h"

namespace synthesizer::serve {
namespace {

namespace fs = std::filesystem;

/// "train.en.gz" as "en"; empty where the ending is no code of two or three letters.
std::string language_of(const std::string& file) {
  fs::path path(file);
  if (path.extension() == ".gz") path = path.stem();
  std::string code = path.extension().string();
  if (code.size() < 3 || code.size() > 4) return "";
  code.erase(0, 1);
  return std::all_of(code.begin(), code.end(), [](unsigned char c) { return std::islower(c); }) ? code : "";
}

std::optional<LanguagePair> languages_of(const Recipe& recipe) {
  if (recipe.task != "translation" || recipe.data.train.size() != 2) return {};
  LanguagePair pair{language_of(recipe.data.train[0]), language_of(recipe.data.train[1])};
  if (pair.source.empty() || pair.target.empty() || pair.source == pair.target) return {};
  return pair;
}

/// "R+V", or both sides' where they differ: "encoder V, decoder R".
std::string attention_summary(const ModelOptions& options, const std::string& use) {
  auto of = [&](Side side) {
    auto layers = attention_of_layers(options, side);
    layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
    return fmt::format("{}", fmt::join(layers, ","));
  };
  if (use == "generate") return of(Side::decoder);
  if (use == "classify") return of(Side::encoder);
  const std::string encoder = of(Side::encoder), decoder = of(Side::decoder);
  return encoder == decoder ? encoder : fmt::format("encoder {}, decoder {}", encoder, decoder);
}

std::string use_of(Task& task) {
  if (dynamic_cast<Translator*>(&task)) return "translate";
  return dynamic_cast<Generator*>(&task) ? "generate" : "classify";
}

std::vector<AttentionPlace> sides_with_weights(Task& task, const std::string& use) {
  std::set<AttentionPlace> sides;
  for (const auto& [name, layer] : layers_of(task.model())) {
    if (layer->attention()->mixer().supports_bias())
      sides.insert(name.starts_with("encoder.") ? AttentionPlace::encoder : AttentionPlace::decoder);
  }
  if (use == "translate") sides.insert(AttentionPlace::cross);
  return {sides.begin(), sides.end()};
}

}  // namespace

ServedModel::ServedModel(const NamedRun& run, const std::string& weights, int64_t batch, Metrics& metrics)
    : source_(run), run_(open_run(run.folder, weights)) {
  own_memory(task().model());  // the folder may be replaced while the model is served
  use_ = use_of(task());
  sides_ = sides_with_weights(task(), use_);
  batcher_ = make_batcher(task(), batch, metrics);
  languages_ = languages_of(task().recipe());
  struct stat file = {};
  if (::stat(run_.folder.weights(weights).c_str(), &file) == 0) created_ = file.st_mtime;
  for (const at::Tensor& parameter : task().model().parameters()) parameters_ += parameter.numel();
  quantization_ = quantization(task().model());
}

void ServedModel::check_line(const std::string& text, const std::string& name, const char* field) const {
  if (use_ != "translate" || text.find('\n') == std::string::npos) return;
  throw ApiError(
      400,
      fmt::format("{} has a line break, and '{}' reads one line: send each line as a text of its own", name,
                  this->name()),
      field);
}

nlohmann::ordered_json ServedModel::entry() const {
  const Recipe& recipe = task().recipe();
  nlohmann::ordered_json entry = {{"id", name()},
                                  {"object", "model"},
                                  {"created", created_},
                                  {"owned_by", "synthesizer"},
                                  {"task", recipe.task},
                                  {"use", use_},
                                  {"attention", attention_summary(recipe.model, use_)},
                                  {"parameters", parameters_},
                                  {"precision", quantization_ ? choice_name(*quantization_) : "float32"},
                                  {"max_length", recipe.model.max_length}};
  if (use_ == "translate") entry["beam"] = recipe.decode.beam;
  if (languages_) entry["languages"] = {{"source", languages_->source}, {"target", languages_->target}};
  if (const auto* classifier = dynamic_cast<const TextClassifier*>(run_.task.get()))
    entry["labels"] = classifier->labels();
  return entry;
}

}  // namespace synthesizer::serve
