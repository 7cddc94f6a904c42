#include "task/recipe_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "attention/registry.h"
#include "base/number_text.h"
#include "task/registry.h"
#include "text/tokenizer.h"

namespace synthesizer {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

struct Writer {
  std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
  std::string operator()(const int64_t* v) const { return std::to_string(*v); }
  std::string operator()(const double* v) const { return real_text(*v); }
  std::string operator()(const std::string* v) const { return quoted(*v); }
  std::string operator()(const ChoiceReference& v) const { return quoted(v.name()); }
  std::string operator()(const std::vector<std::string>* v) const {
    if (v->size() == 1) return quoted(v->front());
    std::string out = "[";
    for (const std::string& text : *v) out += (out.size() > 1 ? ", " : "") + quoted(text);
    return out + "]";
  }
  std::string operator()(const OptionMap* v) const {
    std::string out = "{";
    for (const auto& [name, value] : v->values()) {
      out += (out.size() > 1 ? ", " : " ") + name + " = ";
      if (const auto* text = std::get_if<std::string>(&value)) out += quoted(*text);
      if (const auto* flag = std::get_if<bool>(&value)) out += *flag ? "true" : "false";
      if (const auto* whole = std::get_if<int64_t>(&value)) out += std::to_string(*whole);
      if (const auto* number = std::get_if<double>(&value)) out += real_text(*number);
    }
    return out + (out.size() > 1 ? " }" : "}");
  }
};

/// Where the value of a decode option is.
struct PlaceIn {
  DecodeOptions& options;

  template <typename T>
  Key::Value operator()(T DecodeOptions::*member) const {
    return &(options.*member);
  }
  Key::Value operator()(uint64_t DecodeOptions::*) const {
    throw std::logic_error("a recipe has no keys of this kind");  // TOML's integers have a sign
  }
};

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "adam, adamw or adafactor".
template <NamedEnum E>
std::string all_of(E value) {
  return list_of(choices(value));
}

/// "language-model, translation … or text-to-text".
std::string task_names() {
  std::vector<std::string> names;
  for (const TaskInfo& task : tasks()) names.push_back(task.name);
  const std::string last = names.back();
  names.pop_back();
  return joined(names) + " or " + last;
}

/// "V, D, R, Fix, FR, FD".
std::string variant_names() {
  std::vector<std::string> names;
  for (const Variant& variant : variants()) names.push_back(variant.abbreviation);
  return joined(names);
}

}  // namespace

std::string toml_value(const Key::Value& value) {
  return std::visit(Writer{}, value);
}

std::vector<Key> keys_of(Recipe& r) {
  auto& [task, seed, data, model, train, decode] = r;
  constexpr bool kFree = true;
  std::vector<Key> keys = {
      {"task", &task, task_names()},
      {"seed", &seed, "random seed of initial values, data order and dropout"},

      {"data.root", &data.root, "folder of the data files (default: the recipe's folder)", kFree},
      {"data.train", &data.train,
       "training files; translation: source and target, or one table; \"part-*.txt\" matches several files"},
      {"data.dev", &data.dev, "validation files"},
      {"data.test", &data.test, "test files; additional files are additional references"},
      {"data.format", &data.format, all_of(data.format) + "; files may be gzipped"},
      {"data.columns", &data.columns, "tsv, jsonl: the columns to read, such as [\"source\", \"target\"]"},
      {"data.labels", &data.labels, "classification: the classes (default: those in the training data)"},
      {"data.history_turns", &data.history_turns, "dialogue: number of last turns to read; 0: all"},
      {"data.metrics", &data.metrics,
       "translation: scores of the outputs, the most important one first: bleu, chrf, exact_match "
       "(BLEU needs lines of at least four words)",
       kFree},
      {"data.vectors", &data.vectors, "dialogue: file of word vectors for the embedding scores", kFree},
      {"data.corruption", &data.corruption, "span-corruption: share of the tokens to corrupt"},
      {"data.mean_span", &data.mean_span, "span-corruption: mean length of a corrupted span, in tokens"},
      {"data.tasks", &data.tasks,
       "text-to-text: the task of each file of a split, such as [\"sst2\", \"span-corruption\"]; a file "
       "name \"\": the split has no data of that task"},
      {"data.source_template", &data.source_template,
       "text-to-text, other tables: template of the source; {column} stands for that column's value"},
      {"data.target_template", &data.target_template, "the same for the target"},
      {"data.mixing_cap", &data.mixing_cap,
       "text-to-text: maximum number of examples counted per task, for its sampling rate; 0: no limit"},
      {"data.mixing_temperature", &data.mixing_temperature,
       "text-to-text: sampling rates of tasks are proportional to examples^(1/temperature)"},
      {"data.tokenizer", &data.tokenizer,
       joined(names_of(choices(TokenizerKind{}))) + ", or the file of a trained one"},
      {"data.vocabulary", &data.vocabulary, "vocabulary size of the tokenizer; 0: all (characters, words)"},
      {"data.character_coverage", &data.character_coverage,
       "unigram, bpe: share of the characters that the vocabulary covers"},
      {"data.joint", &data.joint, "translation: one tokenizer for both languages"},
      {"data.max_length", &data.max_length,
       "maximum sequence length (target side) in tokens; 0: the model's maximum"},
      {"data.max_source_length", &data.max_source_length,
       "maximum source length in tokens; 0: the model's maximum"},
      {"data.too_long", &data.too_long, "lines over the maximum length: " + all_of(data.too_long)},
      {"data.sequence", &data.sequence, "language models: " + all_of(data.sequence)},
      {"data.cache", &data.cache, "folder for tokenized text (default: the user's cache folder)", kFree},

      {"model.attention", &model.attention,
       variant_names() + ", a mixture such as R+V, or a baseline (light-conv:15); a list: one per layer"},
      {"model.encoder_attention", &model.encoder_attention, "the same for the encoder (default: attention)"},
      {"model.decoder_attention", &model.decoder_attention, "the same for the decoder (default: attention)"},
      {"model.options", &model.attention_options,
       "options of the attention variants, such as { rank = 8 } or { kernel = 7 }"},
      {"model.width", &model.width, "model width: size of the vectors between layers"},
      {"model.heads", &model.heads, "number of heads per attention"},
      {"model.layers", &model.layers, "number of layers, of the encoder and of the decoder"},
      {"model.encoder_layers", &model.encoder_layers, "number of encoder layers; 0: as layers"},
      {"model.decoder_layers", &model.decoder_layers, "number of decoder layers; 0: as layers"},
      {"model.recurrent_depth", &model.recurrent_depth,
       "number of times one layer is applied (Universal Transformer); 0: off"},
      {"model.halting_threshold", &model.halting_threshold,
       "adaptive computation time: each position stops at this sum of halting probabilities (such as 0.99), "
       "at the latest after recurrent_depth applications; 0: off"},
      {"model.feed_forward", &model.feed_forward, "inner width of the feed-forward layers"},
      {"model.max_length", &model.max_length, "maximum sequence length of the model, in tokens"},
      {"model.dropout", &model.dropout, "dropout of embeddings and of every residual branch"},
      {"model.attention_dropout", &model.attention_dropout, "dropout of attention weights"},
      {"model.activation_dropout", &model.activation_dropout, "dropout inside the feed-forward layers"},
      {"model.norm", &model.norm, all_of(model.norm)},
      {"model.norm_place", &model.norm_place,
       all_of(model.norm_place) + ": before each residual branch, or after the sum"},
      {"model.norm_epsilon", &model.norm_epsilon, "added to the variance in norms"},
      {"model.embedding_norm", &model.embedding_norm, "add a norm before the first layer, as in BERT"},
      {"model.positions", &model.positions, all_of(model.positions)},
      {"model.activation", &model.activation, all_of(model.activation)},
      {"model.bias", &model.bias, "biases of projections and norms"},
      {"model.output_bias", &model.output_bias, "bias of the output logits (tokens or classes)"},
      {"model.embedding_scale", &model.embedding_scale,
       "multiply embeddings by the square root of the width"},
      {"model.tied", &model.tied, "use the target embedding as the output projection"},
      {"model.shared_embedding", &model.shared_embedding,
       "translation with a joint tokenizer: one embedding for both sides"},
      {"model.pooling", &model.pooling,
       "classification: " + all_of(model.pooling) + ", of the encoder's outputs"},

      {"train.steps", &train.steps, "number of optimizer steps"},
      {"train.batch_tokens", &train.batch_tokens, "maximum number of tokens per batch, padding included"},
      {"train.batch_examples", &train.batch_examples,
       "maximum number of examples (windows) per batch; 0: no limit"},
      {"train.accumulate", &train.accumulate, "batches per optimizer step"},
      {"train.optimizer", &train.optimizer, all_of(train.optimizer)},
      {"train.learning_rate", &train.learning_rate, "maximum learning rate; noam: a factor"},
      {"train.logit_learning_rate", &train.logit_learning_rate,
       "factor of the learning rate for the group logits (parameters that are logits): tables and their "
       "factors, biases of logits, relative positions, mixture weights, kernels of light-conv"},
      {"train.beta1", &train.beta1, "adam, adamw: decay rate of the first moment"},
      {"train.beta2", &train.beta2, "adam, adamw: decay rate of the second moment"},
      {"train.epsilon", &train.epsilon, "adam, adamw: added to the denominator"},
      {"train.weight_decay", &train.weight_decay,
       "weight decay of the group matrices (weight matrices and embeddings); the groups vectors (norms, "
       "biases) and logits do not decay"},
      {"train.schedule", &train.schedule, all_of(train.schedule) + ", after the warm-up"},
      {"train.warmup", &train.warmup, "number of steps over which the learning rate rises"},
      {"train.final_learning_rate", &train.final_learning_rate,
       "linear, cosine: learning rate at the last step"},
      {"train.clip", &train.clip, "maximum norm of the gradient; 0: no clipping"},
      {"train.precision", &train.precision, all_of(train.precision)},
      {"train.label_smoothing", &train.label_smoothing, "share of probability spread over the vocabulary"},
      {"train.ponder_cost", &train.ponder_cost,
       "with model.halting_threshold: weight of the number of applications per position in the loss"},
      {"train.eval_every", &train.eval_every, "steps between validations"},
      {"train.watch", &train.watch,
       "dev score that selects the best weights: loss, bleu, rouge1, accuracy …"},
      {"train.save_every", &train.save_every, "steps between checkpoints", kFree},
      {"train.log_every", &train.log_every, "steps between lines of metrics.jsonl", kFree},
      {"train.keep", &train.keep, "number of checkpoints to keep, for averaging", kFree},
      {"train.patience", &train.patience, "validations without improvement before training stops; 0: never",
       kFree},
      {"train.threads", &train.threads, "number of threads, at most 1024; 0: the cores this process may use",
       kFree},
      {"train.shard_optimizer", &train.shard_optimizer,
       "several processes: each keeps only the optimizer state of its share of the parameters", kFree},
      {"train.checkpoint_activations", &train.checkpoint_activations,
       "keep only the inputs of layers and recompute the layers in the backward pass: less memory, a third "
       "more computation, the same weights",
       kFree},
      {"train.init_from", &train.init_from, "run whose weights and tokenizer to start from"},
  };
  for (const DecodeOption& option : decode_option_list()) {
    if (option.use != DecodeOption::Use::search) continue;
    keys.push_back({option.key(), std::visit(PlaceIn{decode}, option.member), option.help, kFree});
  }
  return keys;
}

}  // namespace synthesizer
