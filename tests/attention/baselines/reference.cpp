#include "attention/baselines/reference.h"

#include <cmath>
#include <vector>

#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

/// A parameter by name as a list of rows; of H×R×C, head by head.
struct Parameters {
  const Attention& layer;

  bool has(const std::string& name) const { return layer->named_parameters().contains(name); }
  at::Tensor tensor(const std::string& name) const {
    return layer->named_parameters()[name].detach().to(at::kDouble).contiguous();
  }
  Rows rows(const std::string& name) const {
    const auto t = tensor(name);
    const auto columns = static_cast<size_t>(t.size(-1));
    Rows all;
    for (const double* p = t.data_ptr<double>(); p < t.data_ptr<double>() + t.numel(); p += columns) {
      all.emplace_back(p, p + columns);
    }
    return all;
  }
};

Row linear(const Parameters& p, const std::string& name, const Row& x) {
  Row y;
  for (const Row& row : p.rows(name + ".weight")) {
    double sum = 0;
    for (size_t c = 0; c < x.size(); ++c) sum += row[c] * x[c];
    y.push_back(sum);
  }
  if (p.has(name + ".bias")) {
    const auto bias = p.tensor(name + ".bias");
    for (size_t o = 0; o < y.size(); ++o) y[o] += bias.data_ptr<double>()[o];
  }
  return y;
}

Row softmax(const Row& scores) {
  double sum = 0;
  Row weights;
  for (double score : scores) sum += std::exp(score);
  for (double score : scores) weights.push_back(std::exp(score) / sum);
  return weights;
}

/// Both convolutions, for the rows of one sample that are not padding.
Rows convolved(const Parameters& p, const AttentionOptions& o, const Rows& x) {
  const auto width = static_cast<size_t>(o.width), heads = static_cast<size_t>(o.heads);
  const auto groups = static_cast<size_t>(o.options.integer("groups", o.heads)), k = width / groups;
  Rows z, out;
  for (const Row& row : x) {
    const Row both = linear(p, "glu", row);
    Row gated;
    for (size_t c = 0; c < width; ++c) gated.push_back(both[c] / (1 + std::exp(-both[width + c])));
    z.push_back(gated);
  }
  const Rows kernel = p.rows("kernel.weight");
  const bool light = o.attention.starts_with("light");
  const auto taps = static_cast<int64_t>(light ? kernel[0].size() : kernel.size() / groups);
  const int64_t left = o.causal ? taps - 1 : (taps - 1) / 2, length = static_cast<int64_t>(x.size());
  for (int64_t i = 0; i < length; ++i) {
    Row y(width, 0.0);
    for (size_t h = 0; h < groups; ++h) {
      Row scores = light ? kernel[h] : Row();
      for (int64_t t = 0; !light && t < taps; ++t) {
        double sum = 0;
        for (size_t c = 0; c < width; ++c)
          sum += kernel[groups == heads ? h * static_cast<size_t>(taps) + static_cast<size_t>(t)
                                        : static_cast<size_t>(t) * groups + h][c] *
                 z[static_cast<size_t>(i)][c];
        scores.push_back(sum);
      }
      const Row weights = softmax(scores);
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t j = i + t - left;
        if (j < 0 || j >= length) continue;
        for (size_t c = h * k; c < (h + 1) * k; ++c)
          y[c] += weights[static_cast<size_t>(t)] * z[static_cast<size_t>(j)][c];
      }
    }
    out.push_back(linear(p, "output", y));
  }
  return out;
}

Rows linformed(const Parameters& p, const AttentionOptions& o, const Rows& x) {
  const auto width = static_cast<size_t>(o.width), heads = static_cast<size_t>(o.heads), k = width / heads;
  Rows query, key, value, out;
  for (const Row& row : x) {
    query.push_back(linear(p, "query", row));
    key.push_back(linear(p, "key", row));
    value.push_back(linear(p, "value", row));
  }
  const Rows of_keys = p.rows("project.key");
  const Rows of_values = p.has("project.value") ? p.rows("project.value") : of_keys;
  const bool shared = p.tensor("project.key").dim() == 2;
  const size_t rank = of_keys.size() / (shared ? 1 : heads);
  // Column c of mixture r of the rows; past the sample's length the rows are zeros, which is to stop there.
  auto mixed = [&](const Rows& matrix, const Rows& rows, size_t h, size_t r, size_t c) {
    double sum = 0;
    for (size_t j = 0; j < rows.size(); ++j) sum += matrix[(shared ? 0 : h * rank) + r][j] * rows[j][c];
    return sum;
  };
  for (size_t i = 0; i < x.size(); ++i) {
    Row y(width, 0.0);
    for (size_t h = 0; h < heads; ++h) {
      Row scores(rank, 0.0);
      for (size_t r = 0; r < rank; ++r) {
        for (size_t c = h * k; c < (h + 1) * k; ++c) scores[r] += query[i][c] * mixed(of_keys, key, h, r, c);
        scores[r] /= std::sqrt(static_cast<double>(k));
      }
      const Row weights = softmax(scores);
      for (size_t r = 0; r < rank; ++r) {
        for (size_t c = h * k; c < (h + 1) * k; ++c) y[c] += weights[r] * mixed(of_values, value, h, r, c);
      }
    }
    out.push_back(linear(p, "output", y));
  }
  return out;
}

}  // namespace

at::Tensor baseline_reference(const Attention& layer, const at::Tensor& x, const at::Tensor& lengths) {
  const AttentionOptions& o = layer->options();
  const auto input = x.detach().to(at::kDouble);
  auto result = at::zeros(x.sizes(), at::kDouble);
  for (int64_t b = 0; b < x.size(0); ++b) {
    const int64_t length = lengths.defined() ? lengths[b].item<int64_t>() : x.size(1);
    Rows rows;
    for (int64_t i = 0; i < length; ++i) {
      const auto row = input[b][i].contiguous();
      rows.emplace_back(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
    }
    const Parameters p{layer};
    const Rows out = o.attention.starts_with("linformer") ? linformed(p, o, rows) : convolved(p, o, rows);
    for (int64_t i = 0; i < length; ++i) {
      result[b][i].copy_(at::tensor(at::ArrayRef<double>(out[static_cast<size_t>(i)]), at::kDouble));
    }
  }
  return result;
}

}  // namespace synthesizer::testing
