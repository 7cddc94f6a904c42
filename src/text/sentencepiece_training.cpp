#include "text/sentencepiece_training.h"

#include <fmt/format.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "text/sentences.h"
#include "text/special_tokens.h"
#include "text/vocabulary_size.h"

namespace synthesizer {
namespace {

class Iterator : public sentencepiece::SentenceIterator {
 public:
  Iterator(const Sentences& sentences, size_t begin, size_t end)
      : sentences_(sentences), next_(begin), end_(end) {
    fetch();
  }
  bool done() const override { return next_ == end_; }
  void Next() override {
    ++next_;
    fetch();
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void fetch() {
    if (!done()) value_ = sentences_[next_];
  }

  const Sentences& sentences_;
  size_t next_, end_;
  std::string value_;
};

struct Outcome {
  std::string model, error;
};

Outcome train(const TokenizerOptions& options, Iterator lines) {
  // More than anybody wants, less than what overflows inside.
  constexpr int64_t kLargestVocabulary = 100'000'000;
  const std::unordered_map<std::string, std::string> settings = {
      {"model_type", choice_name(options.kind)},
      {"vocab_size",
       fmt::format("{}", std::clamp<int64_t>(options.vocabulary, kSpecials, kLargestVocabulary))},
      {"character_coverage", fmt::format("{}", options.character_coverage)},
      {"max_sentence_length", fmt::format("{}", Sentences::kLongest)},
      // NFKC, and control characters left out: SentencePiece's default, stated because decode(encode(x)) is x
      // only up to it, and up to runs of spaces.
      {"normalization_rule_name", "nmt_nfkc"},
      {"unk_id", fmt::format("{}", kUnknown)},
      {"bos_id", fmt::format("{}", kBegin)},
      {"eos_id", fmt::format("{}", kEnd)},
      {"pad_id", "-1"},
      // Sums are rounded by how they are shared out, so the number is fixed rather than the machine's.
      {"num_threads", "16"},
      {"minloglevel", "3"},
  };
  Outcome outcome;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &outcome.model);
  if (!status.ok()) outcome.error = status.ToString();
  return outcome;
}

/// The number after `words` in SentencePiece's message.
std::optional<int64_t> number_after(std::string_view message, std::string_view words) {
  const size_t place = message.find(words);
  if (place == std::string_view::npos) return {};
  const auto digits = message.substr(place + words.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> least_vocabulary(const std::string& error) {
  if (error.find("smaller than required_chars") == std::string::npos) return {};
  return number_after(error, " vs ");
}

/// Whether anything is left of the text once it is normalized; if not, unigram would end the whole program.
/// BPE with no room for characters says so quickly, and the first lines nearly always answer.
bool has_text(const Sentences& sentences) {
  const TokenizerOptions probe{.kind = TokenizerKind::bpe, .vocabulary = kSpecials};
  for (size_t begin = 0, count = 1; begin < sentences.size(); begin += count, count *= 10) {
    const Iterator some(sentences, begin, std::min(begin + count, sentences.size()));
    if (least_vocabulary(train(probe, some).error)) return true;
  }
  return false;
}

}  // namespace

std::string train_sentencepiece(const TokenizerOptions& options, const LineSource& lines) {
  if (!(options.character_coverage >= 0.98 && options.character_coverage <= 1)) {
    invalid(
        fmt::format("data.character_coverage is {}: it must be from 0.98 to 1", options.character_coverage));
  }
  Sentences sentences;
  lines([&](std::string_view line) { sentences.add(line); });
  if (!has_text(sentences)) no_text();

  auto [model, error] = train(options, Iterator(sentences, 0, sentences.size()));
  if (error.empty()) return std::move(model);
  if (const auto most = number_after(error, "set it to a value <= ")) {
    vocabulary_too_large(options.vocabulary, *most);
  }
  if (const auto least = least_vocabulary(error)) vocabulary_too_small(options.vocabulary, *least);
  invalid(fmt::format("SentencePiece cannot learn from this text: {}", error));
}

void silence_sentencepiece() {
  // The level is a setting of the trainer; without a text it stops after having set it.
  static const bool once = [] {
    const std::unordered_map<std::string, std::string> settings = {{"minloglevel", "3"}};
    return sentencepiece::SentencePieceTrainer::Train(settings).ok();
  }();
  (void)once;
}

}  // namespace synthesizer
