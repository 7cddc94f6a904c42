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
      {"seed", &seed, "of start values, data order and dropout"},

      {"data.root", &data.root, "folder of the files (default: the recipe's)", kFree},
      {"data.train", &data.train,
       "files to learn from; translation: source and target, or one table; \"part-*.txt\" names several"},
      {"data.dev", &data.dev, "files to validate on"},
      {"data.test", &data.test, "files to report on; further files are further references"},
      {"data.format", &data.format, all_of(data.format) + "; any may be gzipped"},
      {"data.columns", &data.columns,
       "of tsv and jsonl: the columns to take, such as [\"source\", \"target\"]"},
      {"data.labels", &data.labels, "classification: the classes (default: those of the training text)"},
      {"data.history_turns", &data.history_turns, "dialogue: last turns that are read; 0: all"},
      {"data.metrics", &data.metrics,
       "translation: scores of what is written, the one that counts first: bleu, chrf, exact_match (BLEU "
       "needs "
       "lines of four words or more)",
       kFree},
      {"data.vectors", &data.vectors, "dialogue: file of word vectors for the embedding scores", kFree},
      {"data.corruption", &data.corruption, "span-corruption: share of the tokens that are taken out"},
      {"data.mean_span", &data.mean_span, "span-corruption: mean length of what is taken out, in tokens"},
      {"data.tasks", &data.tasks,
       "text-to-text: the task of each file of a split, such as [\"sst2\", \"span-corruption\"]; a file "
       "named \"\": the split has none of that task"},
      {"data.source_template", &data.source_template,
       "text-to-text, other tables: the source, with {column} in it"},
      {"data.target_template", &data.target_template, "the same for the target"},
      {"data.mixing_cap", &data.mixing_cap,
       "text-to-text: a task counts as having at most so many examples; 0: any number"},
      {"data.mixing_temperature", &data.mixing_temperature,
       "text-to-text: a task is seen in proportion to its examples to the power of 1 over this"},
      {"data.tokenizer", &data.tokenizer,
       joined(names_of(choices(TokenizerKind{}))) + ", or the file of a trained one"},
      {"data.vocabulary", &data.vocabulary, "pieces of the tokenizer; 0: all (characters, words)"},
      {"data.character_coverage", &data.character_coverage,
       "unigram, bpe: share of the characters with a piece of their own"},
      {"data.joint", &data.joint, "translation: one tokenizer for both languages"},
      {"data.max_length", &data.max_length,
       "longest sequence (target side) in tokens; 0: what the model can take"},
      {"data.max_source_length", &data.max_source_length,
       "longest source in tokens; 0: as the model can take"},
      {"data.too_long", &data.too_long, "lines over the limit: " + all_of(data.too_long) + " (both counted)"},
      {"data.sequence", &data.sequence, "language models: " + all_of(data.sequence)},
      {"data.cache", &data.cache, "folder of tokenized text (default: the user's cache)", kFree},

      {"model.attention", &model.attention,
       variant_names() + ", a mixture such as R+V, or a baseline (light-conv:15); a list has one per layer"},
      {"model.encoder_attention", &model.encoder_attention, "the same for the encoder (default: attention)"},
      {"model.decoder_attention", &model.decoder_attention, "the same for the decoder (default: attention)"},
      {"model.options", &model.attention_options,
       "options of the attentions, such as { rank = 8 } or { kernel = 7 }"},
      {"model.width", &model.width, "of the vectors between layers"},
      {"model.heads", &model.heads, "of every attention"},
      {"model.layers", &model.layers, "on each side"},
      {"model.encoder_layers", &model.encoder_layers, "0: as layers"},
      {"model.decoder_layers", &model.decoder_layers, "0: as layers"},
      {"model.recurrent_depth", &model.recurrent_depth,
       "over 0: one layer applied so many times (Universal Transformer)"},
      {"model.halting_threshold", &model.halting_threshold,
       "over 0 (0.99): each position stops by itself, after recurrent_depth applications at most (adaptive "
       "computation time)"},
      {"model.feed_forward", &model.feed_forward, "width inside the feed-forward part"},
      {"model.max_length", &model.max_length, "longest sequence the model is built for, in tokens"},
      {"model.dropout", &model.dropout, "of embeddings and of every residual branch"},
      {"model.attention_dropout", &model.attention_dropout, "of attention weights"},
      {"model.activation_dropout", &model.activation_dropout, "inside the feed-forward part"},
      {"model.norm", &model.norm, all_of(model.norm)},
      {"model.norm_place", &model.norm_place,
       all_of(model.norm_place) + ": before each branch, or after its sum"},
      {"model.norm_epsilon", &model.norm_epsilon, "added to the variance in norms"},
      {"model.embedding_norm", &model.embedding_norm, "a norm before the first layer, as BERT has it"},
      {"model.positions", &model.positions, all_of(model.positions)},
      {"model.activation", &model.activation, all_of(model.activation)},
      {"model.bias", &model.bias, "biases of projections and norms"},
      {"model.output_bias", &model.output_bias, "bias of the output's logits, of tokens or classes"},
      {"model.embedding_scale", &model.embedding_scale, "embeddings are multiplied by the root of the width"},
      {"model.tied", &model.tied, "the output projection is the target's embedding"},
      {"model.shared_embedding", &model.shared_embedding,
       "translation with a joint tokenizer: one embedding for both sides"},
      {"model.pooling", &model.pooling,
       "classification: " + all_of(model.pooling) + ", of the encoder's outputs"},

      {"train.steps", &train.steps, "optimizer steps"},
      {"train.batch_tokens", &train.batch_tokens, "tokens per batch, padding included, at most"},
      {"train.batch_examples", &train.batch_examples, "examples (windows) a batch, at most; 0: no limit"},
      {"train.accumulate", &train.accumulate, "batches per step"},
      {"train.optimizer", &train.optimizer, all_of(train.optimizer)},
      {"train.learning_rate", &train.learning_rate, "at its highest; noam: a factor"},
      {"train.logit_learning_rate", &train.logit_learning_rate,
       "factor of the learning rate for the group logits, parameters that are logits: tables and their "
       "factors, biases of logits, relative positions, mixture weights, kernels of light-conv"},
      {"train.beta1", &train.beta1, "of adam and adamw"},
      {"train.beta2", &train.beta2, "of adam and adamw"},
      {"train.epsilon", &train.epsilon, "of adam and adamw"},
      {"train.weight_decay", &train.weight_decay,
       "of the group matrices, weight matrices and embeddings; the groups vectors (norms, biases) and logits "
       "do not decay"},
      {"train.schedule", &train.schedule, all_of(train.schedule) + ", after the warm-up"},
      {"train.warmup", &train.warmup, "steps over which the learning rate rises"},
      {"train.final_learning_rate", &train.final_learning_rate, "of linear and cosine, at the last step"},
      {"train.clip", &train.clip, "longest gradient; 0: any"},
      {"train.precision", &train.precision, all_of(train.precision)},
      {"train.label_smoothing", &train.label_smoothing, "share of probability spread over the vocabulary"},
      {"train.ponder_cost", &train.ponder_cost,
       "with model.halting_threshold: weight of the applications per position in what is minimised"},
      {"train.eval_every", &train.eval_every, "steps between validations"},
      {"train.watch", &train.watch,
       "the dev score that says which weights are best: loss, bleu, rouge1, accuracy …"},
      {"train.save_every", &train.save_every, "steps between checkpoints", kFree},
      {"train.log_every", &train.log_every, "steps between lines of metrics.jsonl", kFree},
      {"train.keep", &train.keep, "checkpoints kept, for averaging", kFree},
      {"train.patience", &train.patience, "validations without a better one before it ends; 0: never", kFree},
      {"train.threads", &train.threads,
       "threads to compute with, at most 1024; 0: the cores this process may use", kFree},
      {"train.shard_optimizer", &train.shard_optimizer,
       "several processes: each keeps the optimizer's state of its share of the parameters only", kFree},
      {"train.checkpoint_activations", &train.checkpoint_activations,
       "keep only the inputs of layers and compute the layers again in the backward pass: less memory, a "
       "third more work, the same weights",
       kFree},
      {"train.init_from", &train.init_from, "a run whose weights to start from, and whose tokenizer"},
  };
  for (const DecodeOption& option : decode_option_list()) {
    if (option.use != DecodeOption::Use::search) continue;
    keys.push_back({option.key(), std::visit(PlaceIn{decode}, option.member), option.help, kFree});
  }
  return keys;
}

}  // namespace synthesizer
