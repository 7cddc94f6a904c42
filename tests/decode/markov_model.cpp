#include "decode/markov_model.h"

#include <algorithm>
#include <cmath>

namespace synthesizer::testing {
namespace {

int64_t known(const std::vector<int64_t>& fed, size_t back, int64_t vocabulary) {
  if (fed.size() < back) return vocabulary;
  const int64_t token = fed[fed.size() - back];
  return token >= 0 && token < vocabulary ? token : vocabulary;
}

at::Tensor logits_after(const at::Tensor& table, const std::vector<int64_t>& fed) {
  const int64_t vocabulary = table.size(-1);
  return table[known(fed, 2, vocabulary)][known(fed, 1, vocabulary)];
}

std::vector<double> log_softmax(const at::Tensor& logits) {
  std::vector<double> out;
  double sum = 0;
  for (int64_t n = 0; n < logits.size(0); ++n) sum += std::exp(logits[n].item<double>());
  for (int64_t n = 0; n < logits.size(0); ++n) out.push_back(logits[n].item<double>() - std::log(sum));
  return out;
}

}  // namespace

MarkovModel::MarkovModel(at::Tensor tables, int64_t max_length)
    : tables_(std::move(tables)), max_length_(max_length) {
  for (int64_t n = 0; n < tables_.size(0); ++n) rows_.push_back({n, {}});
}

at::Tensor MarkovModel::step(const at::Tensor& tokens) {
  EXPECT_EQ(tokens.scalar_type(), at::kLong);
  EXPECT_EQ(tokens.sizes(), at::IntArrayRef({rows()}));
  std::vector<at::Tensor> logits;
  for (int64_t n = 0; n < rows(); ++n) {
    rows_[n].fed.push_back(tokens[n].item<int64_t>());
    EXPECT_LE(static_cast<int64_t>(rows_[n].fed.size()), max_length_);
    logits.push_back(logits_after(tables_[rows_[n].sentence], rows_[n].fed));
  }
  rows_at_steps_.push_back(rows());
  return at::stack(logits);
}

void MarkovModel::reorder(const at::Tensor& indices) {
  std::vector<Row> moved;
  for (int64_t n = 0; n < indices.size(0); ++n) moved.push_back(rows_.at(indices[n].item<int64_t>()));
  rows_ = std::move(moved);
  ++reorders_;
}

at::Tensor random_tables(int64_t sentences, int64_t vocabulary, uint64_t seed) {
  at::manual_seed(seed);
  return at::randn({sentences, vocabulary + 1, vocabulary + 1, vocabulary});
}

at::Tensor constant_tables(int64_t sentences, const std::vector<float>& logits) {
  const auto vocabulary = static_cast<int64_t>(logits.size());
  return at::tensor(at::ArrayRef<float>(logits))
      .expand({sentences, vocabulary + 1, vocabulary + 1, vocabulary});
}

std::vector<Hypothesis> exhaustive(const at::Tensor& table, int64_t begin, int64_t end, int64_t limit,
                                   const DecodeOptions& options) {
  std::vector<Hypothesis> all;
  auto extend = [&](auto& self, const std::vector<int64_t>& output, double sum) -> void {
    std::vector<int64_t> fed = output;
    fed.insert(fed.begin(), begin);
    const auto next = log_softmax(logits_after(table, fed));
    const auto length = static_cast<int64_t>(output.size());
    if (length >= options.min_length || length == limit) {
      const double norm = options.length_normalization == LengthNormalization::power
                              ? std::pow(length + 1.0, options.length_penalty)
                              : std::pow((5 + length + 1.0) / (5 + 1), options.length_penalty);
      all.push_back({output, sum + next[end], (sum + next[end]) / norm, length < limit});
    }
    if (length == limit) return;
    for (int64_t token = 0; token < static_cast<int64_t>(next.size()); ++token) {
      if (token == end) continue;
      auto longer = output;
      longer.push_back(token);
      self(self, longer, sum + next[token]);
    }
  };
  extend(extend, {}, 0);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  return all;
}

void expect_same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t n = 0; n < a.size(); ++n) {
    EXPECT_EQ(a[n].tokens, b[n].tokens) << "hypothesis " << n;
    EXPECT_EQ(a[n].finished, b[n].finished) << "hypothesis " << n;
    EXPECT_NEAR(a[n].log_probability, b[n].log_probability, tolerance) << "hypothesis " << n;
    EXPECT_NEAR(a[n].score, b[n].score, tolerance) << "hypothesis " << n;
  }
}

}  // namespace synthesizer::testing
