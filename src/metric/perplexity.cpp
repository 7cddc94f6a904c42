#include "metric/perplexity.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace synthesizer {
namespace {

double mean(double sum, int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Likelihood& Likelihood::operator+=(const Likelihood& other) {
  nll += other.nll;
  tokens += other.tokens;
  words += other.words;
  characters += other.characters;
  return *this;
}

double Likelihood::loss() const {
  return mean(nll, tokens);
}

double Likelihood::perplexity() const {
  return std::exp(loss());
}

double Likelihood::word_perplexity() const {
  return std::exp(mean(nll, words));
}

double Likelihood::bits_per_character() const {
  return mean(nll, characters) / std::numbers::ln2;
}

}  // namespace synthesizer
