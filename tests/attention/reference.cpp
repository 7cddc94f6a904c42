#include "attention/reference.h"

#include <cmath>
#include <limits>
#include <map>

#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

/// Numbers with as many indices as sizes.
class Array {
 public:
  explicit Array(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {
    int64_t count = 1;
    for (int64_t size : sizes_) count *= size;
    numbers_.resize(count, 0.0);
  }
  explicit Array(const at::Tensor& t) : Array(t.sizes().vec()) {
    const auto flat = t.detach().to(at::kDouble).contiguous();
    std::copy_n(flat.const_data_ptr<double>(), numbers_.size(), numbers_.begin());
  }

  int64_t size(size_t d) const { return sizes_[d]; }
  size_t rank() const { return sizes_.size(); }
  template <class... Index>
  double& operator()(Index... index) {
    return numbers_[place({static_cast<int64_t>(index)...})];
  }
  template <class... Index>
  double operator()(Index... index) const {
    return numbers_[place({static_cast<int64_t>(index)...})];
  }
  at::Tensor tensor() const {
    auto t = at::empty(sizes_, at::kDouble);
    std::copy(numbers_.begin(), numbers_.end(), t.data_ptr<double>());
    return t;
  }

 private:
  size_t place(std::initializer_list<int64_t> index) const {
    size_t at = 0, d = 0;
    for (int64_t i : index) at = at * sizes_[d++] + i;
    return at;
  }
  std::vector<int64_t> sizes_;
  std::vector<double> numbers_;
};

/// The layer's numbers, and the sizes every formula speaks of.
struct Sheet {
  Sheet(const Attention& layer, const at::Tensor& input)
      : options(layer->options()),
        x(input),
        B(input.size(0)),
        L(input.size(1)),
        D(options.width),
        H(options.heads),
        K(D / H) {
    for (const auto& [name, tensor] : named_tensors(*layer)) numbers.emplace(name, Array(tensor));
  }
  bool has(const std::string& name) const { return numbers.count(name) > 0; }
  const Array& operator[](const std::string& name) const { return numbers.at(name); }

  const AttentionOptions& options;
  Array x;  // B×L×D
  int64_t B, L, D, H, K;
  std::map<std::string, Array> numbers;
};

/// Σ_c weight[row, c] x[b, i, c], with a bias where there is one.
double linear(const Sheet& s, const std::string& name, int64_t b, int64_t i, int64_t row) {
  const Array& weight = s[name + ".weight"];
  double sum = s.has(name + ".bias") ? s[name + ".bias"](row) : 0;
  for (int64_t c = 0; c < s.D; ++c) sum += weight(row, c) * s.x(b, i, c);
  return sum;
}

/// Calls body(b, m, i, j) for every entry of S.
template <class Body>
void each(const Sheet& s, const Body& body) {
  for (int64_t b = 0; b < s.B; ++b)
    for (int64_t m = 0; m < s.H; ++m)
      for (int64_t i = 0; i < s.L; ++i)
        for (int64_t j = 0; j < s.L; ++j) body(b, m, i, j);
}

/// A map of every token, B×L×width.
Array mapped(const Sheet& s, const std::string& name, int64_t width) {
  Array y({s.B, s.L, width});
  for (int64_t b = 0; b < s.B; ++b)
    for (int64_t i = 0; i < s.L; ++i)
      for (int64_t c = 0; c < width; ++c) y(b, i, c) = linear(s, name, b, i, c);
  return y;
}

/// relu(x W_1 + b_1) as B×H×L×C, or the token itself for every head where there is no hidden layer.
Array hidden(const Sheet& s, const std::string& member) {
  const std::string name = "logits." + member + ".hidden";
  const bool there = s.has(name + ".weight");
  const int64_t C = there ? s[name + ".weight"].size(0) / s.H : s.D;
  Array h({s.B, s.H, s.L, C});
  for (int64_t b = 0; b < s.B; ++b)
    for (int64_t m = 0; m < s.H; ++m)
      for (int64_t i = 0; i < s.L; ++i)
        for (int64_t c = 0; c < C; ++c) {
          h(b, m, i, c) = there ? std::max(linear(s, name, b, i, m * C + c), 0.0) : s.x(b, i, c);
        }
  return h;
}

Array vanilla(const Sheet& s) {
  const Array q = mapped(s, "logits.V.query", s.D), k = mapped(s, "logits.V.key", s.D);
  Array S({s.B, s.H, s.L, s.L});
  each(s, [&](int64_t b, int64_t m, int64_t i, int64_t j) {
    for (int64_t c = m * s.K; c < (m + 1) * s.K; ++c) S(b, m, i, j) += q(b, i, c) * k(b, j, c);
    S(b, m, i, j) /= std::sqrt(static_cast<double>(s.K));
  });
  return S;
}

Array dense(const Sheet& s) {
  const Array h = hidden(s, "D");
  const Array &weight = s["logits.D.out.weight"], &bias = s["logits.D.out.bias"];
  const bool shared = weight.rank() == 2;
  Array S({s.B, s.H, s.L, s.L});
  each(s, [&](int64_t b, int64_t m, int64_t i, int64_t j) {
    double sum = shared ? bias(j) : bias(m, j);
    for (int64_t c = 0; c < h.size(3); ++c) sum += h(b, m, i, c) * (shared ? weight(c, j) : weight(m, c, j));
    S(b, m, i, j) = sum;
  });
  return S;
}

Array table(const Sheet& s, const std::string& member) {
  const Array& R = s["logits." + member + ".table"];
  Array S({s.B, s.H, s.L, s.L});
  each(s, [&](int64_t b, int64_t m, int64_t i, int64_t j) { S(b, m, i, j) = R(m, i, j); });
  return S;
}

Array factorized_random(const Sheet& s) {
  const Array &left = s["logits.FR.left"], &right = s["logits.FR.right"];
  Array S({s.B, s.H, s.L, s.L});
  each(s, [&](int64_t b, int64_t m, int64_t i, int64_t j) {
    for (int64_t c = 0; c < left.size(2); ++c) S(b, m, i, j) += left(m, i, c) * right(m, j, c);
  });
  return S;
}

/// F_A or F_B: B×H×L×(a or b).
Array factor(const Sheet& s, const Array& h, const std::string& name) {
  const Array &weight = s["logits.FD." + name + ".weight"], &bias = s["logits.FD." + name + ".bias"];
  Array F({s.B, s.H, s.L, weight.size(2)});
  for (int64_t b = 0; b < s.B; ++b)
    for (int64_t m = 0; m < s.H; ++m)
      for (int64_t i = 0; i < s.L; ++i)
        for (int64_t u = 0; u < weight.size(2); ++u) {
          F(b, m, i, u) = bias(m, u);
          for (int64_t c = 0; c < h.size(3); ++c) F(b, m, i, u) += h(b, m, i, c) * weight(m, c, u);
        }
  return F;
}

Array factorized_dense(const Sheet& s) {
  const Array h = hidden(s, "FD");
  const Array A = factor(s, h, "a"), B = factor(s, h, "b");
  const int64_t a = A.size(3), b_size = B.size(3);
  const auto& given = s.options.options.values();
  const bool tile = given.count("tiling") && std::get<std::string>(given.at("tiling")) == "tile";
  Array S({s.B, s.H, s.L, s.L});
  each(s, [&](int64_t b, int64_t m, int64_t i, int64_t j) {
    S(b, m, i, j) = A(b, m, i, j % a) * B(b, m, i, tile ? j % b_size : j / a);
  });
  return S;
}

Array logits_of(const Sheet& s, const std::string& member) {
  if (member == "V") return vanilla(s);
  if (member == "D") return dense(s);
  if (member == "R" || member == "Fix") return table(s, member);
  if (member == "FR") return factorized_random(s);
  if (member == "FD") return factorized_dense(s);
  throw std::logic_error("the reference has no formula for " + member);
}

/// α of one member and head.
double share(const Sheet& s, size_t member, size_t members, int64_t head) {
  if (!s.has("logits.mixture")) return 1;
  const Array& a = s["logits.mixture"];
  auto number = [&](size_t n) { return a.rank() == 1 ? a(n) : a(head, n); };
  double sum = 0;
  for (size_t n = 0; n < members; ++n) sum += std::exp(number(n));
  return std::exp(number(member)) / sum;
}

Array mixed_logits(const Sheet& s) {
  std::vector<std::string> members(1);
  for (char c : s.options.attention) {
    if (c == '+')
      members.emplace_back();
    else
      members.back() += c;
  }
  Array sum({s.B, s.H, s.L, s.L});
  for (size_t n = 0; n < members.size(); ++n) {
    const Array S = logits_of(s, members[n]);
    std::vector<double> alpha;
    for (int64_t m = 0; m < s.H; ++m) alpha.push_back(share(s, n, members.size(), m));
    each(s, [&](int64_t b, int64_t m, int64_t i, int64_t j) { sum(b, m, i, j) += alpha[m] * S(b, m, i, j); });
  }
  return sum;
}

/// Row by row; a row or column at or past the sample's length has no weight.
Array softmax(const Sheet& s, const Array& S, const std::vector<int64_t>& lengths) {
  Array P({s.B, s.H, s.L, s.L});
  for (int64_t b = 0; b < s.B; ++b)
    for (int64_t m = 0; m < s.H; ++m)
      for (int64_t i = 0; i < lengths[b]; ++i) {
        const int64_t end = s.options.causal ? i + 1 : lengths[b];
        double top = -std::numeric_limits<double>::infinity(), sum = 0;
        for (int64_t j = 0; j < end; ++j) top = std::max(top, S(b, m, i, j));
        for (int64_t j = 0; j < end; ++j) sum += std::exp(S(b, m, i, j) - top);
        for (int64_t j = 0; j < end; ++j) P(b, m, i, j) = std::exp(S(b, m, i, j) - top) / sum;
      }
  return P;
}

}  // namespace

Reference reference(const Attention& layer, const at::Tensor& x, const at::Tensor& lengths) {
  const Sheet s(layer, x);
  std::vector<int64_t> n(s.B, s.L);
  for (int64_t b = 0; lengths.defined() && b < s.B; ++b) n[b] = lengths[b].item<int64_t>();
  const Array P = softmax(s, mixed_logits(s), n);
  const Array value = mapped(s, "value", s.D);
  const Array& weight = s["output.weight"];
  Array Y({s.B, s.L, s.D}), out({s.B, s.L, s.D});
  each(s, [&](int64_t b, int64_t m, int64_t i, int64_t j) {
    for (int64_t c = m * s.K; c < (m + 1) * s.K; ++c) Y(b, i, c) += P(b, m, i, j) * value(b, j, c);
  });
  for (int64_t b = 0; b < s.B; ++b)
    for (int64_t i = 0; i < n[b]; ++i)
      for (int64_t r = 0; r < s.D; ++r) {
        out(b, i, r) = s.has("output.bias") ? s["output.bias"](r) : 0;
        for (int64_t c = 0; c < s.D; ++c) out(b, i, r) += weight(r, c) * Y(b, i, c);
      }
  return {out.tensor(), P.tensor()};
}

}  // namespace synthesizer::testing
