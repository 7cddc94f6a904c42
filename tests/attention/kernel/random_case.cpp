#include "attention/kernel/random_case.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "attention/kernel/attend.h"
#include "attention/kernel/convolve.h"

namespace synthesizer::testing {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr double kRounding = 0x1p-24;        // of float32, relative
constexpr double kLeast = 1.2e-38;           // below it numbers may become zero
constexpr double kNearestBFloat16 = 0x1p-8;  // relative
constexpr double kSafety = 4;                // the bounds are of first order
constexpr double kMost = 3e38;               // sums beyond it may become infinite

/// Draws everything a case is made of.
class Draw {
 public:
  explicit Draw(uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15u + 1) {}

  int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  int64_t from(int64_t least, int64_t most) { return least + below(most - least + 1); }
  bool chance(double share) { return uniform() < share; }
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform());
  }

  /// One number of a kind.
  double number(int kind) {
    switch (kind) {
      case 0: return normal();
      case 1: return static_cast<double>(from(-2, 2));                          // ties
      case 2: return normal() * std::pow(10, static_cast<double>(from(1, 3)));  // weights of 0 and 1
      case 3: return normal() * 1e15;
      case 4: return normal() * 1e-20;
      case 5: return static_cast<double>(from(-1000, 1000)) * 0x1p-149;  // denormals
      case 6: return 0;
      default: return number(static_cast<int>(below(7)));
    }
  }
  static constexpr int kNumberKinds = 8;
  /// Ordinary numbers in half of the cases.
  /// Without the largest, whose products with others would leave the range of float32.
  int modest_kind() {
    const int drawn = kind();
    return drawn == 3 || drawn == 7 ? 2 : drawn;
  }
  int kind() { return chance(0.5) ? static_cast<int>(below(2)) : static_cast<int>(below(kNumberKinds)); }

 private:
  std::mt19937_64 engine_;
};

/// A tensor of the problem: its numbers in double, where they lie for sample, head, row and feature (a step
/// of 0: shared), the gradient and the bound of its rounding.
struct Operand {
  at::Tensor tensor;
  std::vector<double> value, gradient, bound;
  std::array<int64_t, 4> steps = {0, 0, 0, 0};

  bool there() const { return tensor.defined(); }
  size_t at(int64_t b, int64_t h, int64_t i, int64_t k) const {
    return static_cast<size_t>(b * steps[0] + h * steps[1] + i * steps[2] + k * steps[3]);
  }
  void add(size_t place, double amount, double off) {
    gradient[place] += amount;
    bound[place] += off;
  }
};

/// The numbers of a tensor, in the order of its indices.
std::vector<double> numbers_of(const at::Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

class RandomProblem {
 public:
  explicit RandomProblem(Draw& draw) : draw_(draw), dtype_(draw.chance(0.2) ? at::kBFloat16 : at::kFloat) {}

 protected:
  /// Numbers of a shape, rounded to the dtype, laid out in some order of the dimensions.
  at::Tensor random_tensor(const std::vector<int64_t>& shape, int kind) {
    auto flat = at::empty(shape, at::kFloat);
    float* data = flat.mutable_data_ptr<float>();
    for (int64_t i = 0; i < flat.numel(); ++i) data[i] = static_cast<float>(draw_.number(kind));
    auto rounded = flat.to(dtype_);
    if (!draw_.chance(0.3) || shape.size() < 2) return rounded;
    const auto dims = static_cast<int64_t>(shape.size());
    const int64_t a = draw_.below(dims), b = draw_.below(dims);
    return rounded.transpose(a, b).contiguous().transpose(a, b);
  }

  at::Tensor random_lengths(int64_t batch, int64_t most) {
    std::vector<int64_t> lengths;
    for (int64_t b = 0; b < batch; ++b) lengths.push_back(draw_.from(0, most));
    return at::tensor(at::ArrayRef<int64_t>(lengths), at::kLong);
  }

  /// A few in most cases, and now and then more than a tile has.
  int64_t random_length(int64_t least) {
    if (draw_.chance(0.02)) return draw_.from(500, 540);
    return draw_.chance(0.15) ? draw_.from(20, 100) : draw_.from(least, 19);
  }

  /// What differs by more than the bound allows; nothing where nothing does.
  std::string difference(const char* what, const at::Tensor& actual, const std::vector<double>& expected,
                         const std::vector<double>& bound) const {
    const auto found = numbers_of(actual);
    if (found.size() != expected.size()) return fmt::format("{} has {} numbers", what, found.size());
    const double rounding = dtype_ == at::kBFloat16 ? kNearestBFloat16 : kRounding;
    for (size_t i = 0; i < found.size(); ++i) {
      const double allowed = kSafety * bound[i] + rounding * std::abs(expected[i]) + kLeast;
      if (std::abs(expected[i]) + allowed > kMost) continue;
      const bool same = std::isfinite(expected[i])
                            ? std::isfinite(found[i]) && !(std::abs(found[i] - expected[i]) > allowed)
                            : !std::isfinite(found[i]);
      if (!same) {
        return fmt::format("{} number {} is {} instead of {} (allowed {})", what, i, found[i], expected[i],
                           allowed);
      }
    }
    return "";
  }

  Draw& draw_;
  at::ScalarType dtype_;
};

// --- attend ---

class AttendProblem : RandomProblem {
 public:
  explicit AttendProblem(Draw& draw) : RandomProblem(draw) {
    batch_ = draw.chance(0.03) ? 0 : draw.from(1, 3);
    heads_ = draw.from(1, 3);
    mask_.causal = draw.chance(0.4);
    rows_ = random_length(draw.chance(0.05) ? 0 : 1);
    columns_ = mask_.causal ? rows_ : random_length(draw.chance(0.05) ? 0 : 1);
    width_ = draw.from(1, draw.chance(0.1) ? 40 : 9);
    make_parts();
    if (draw.chance(0.3)) mask_.row_lengths = random_lengths(batch_, rows_);
    if (draw.chance(0.3)) mask_.column_lengths = random_lengths(batch_, columns_);
    value_ = of(random_tensor({batch_, heads_, columns_, width_}, draw.modest_kind()));
    grad_ = random_tensor({batch_, heads_, rows_, width_}, draw.modest_kind());
  }

  std::string check() {
    const std::string found = compare();
    if (found.empty()) return "";
    std::string parts;
    for (const auto& [name, operand] : operands()) {
      if (operand->there()) parts += fmt::format(" {} {}", name, fmt::join(operand->tensor.sizes(), "×"));
    }
    return fmt::format("attend,{}{}{}{}{}, scale {}: {}", parts, mask_.causal ? ", causal" : "",
                       mask_.row_lengths.defined() ? ", row lengths" : "",
                       mask_.column_lengths.defined() ? ", column lengths" : "",
                       dtype_ == at::kBFloat16 ? ", bfloat16" : "", logits_.scale, found);
  }

 private:
  /// An operand that differs between samples (four dimensions) or does not (three).
  Operand make(const std::vector<int64_t>& shape) { return of(random_tensor(shape, draw_.kind())); }
  static Operand of(const at::Tensor& tensor) {
    Operand operand;
    operand.tensor = tensor;
    operand.value = numbers_of(tensor);
    operand.gradient.resize(operand.value.size());
    operand.bound.resize(operand.value.size());
    int64_t step = 1;
    for (int64_t d = tensor.dim() - 1, to = 3; d >= 0; --d, --to) {
      operand.steps[static_cast<size_t>(to)] = step;
      step *= tensor.size(d);
    }
    return operand;
  }

  void make_parts() {
    if (draw_.chance(0.5)) {
      const int64_t features = draw_.from(1, 9);
      query_ = make({batch_, heads_, rows_, features});
      key_ = make({batch_, heads_, columns_, features});
      const double scales[] = {1, 0.7, 1e-3, -1, 0, 30};
      logits_.scale = scales[draw_.below(6)];
    }
    if (draw_.chance(0.4)) {
      const int64_t features = draw_.from(1, 9);
      row_ = draw_.chance(0.5) ? make({heads_, rows_, features}) : make({batch_, heads_, rows_, features});
      column_ = make({heads_, columns_, features});
    }
    if (draw_.chance(0.5)) make_table();
    if (draw_.chance(0.3)) {
      const int64_t a = draw_.from(1, std::max<int64_t>(1, columns_));
      left_ = make({batch_, heads_, rows_, a});
      right_ =
          make({batch_, heads_, rows_, (columns_ + a - 1) / a + draw_.below(2) + (columns_ == 0 ? 1 : 0)});
      logits_.tile = draw_.chance(0.4);
    }
    logits_.rows = rows_;
  }

  void make_table() {
    const int64_t table_rows = draw_.chance(0.3) ? 1 : rows_;
    auto table = random_tensor({heads_, table_rows, columns_}, draw_.kind());
    hidden_ = draw_.chance(0.3) && table.numel() > 0;
    if (hidden_) {  // columns, single entries, whole rows
      for (int64_t n = draw_.from(1, 1 + columns_ / 2); n > 0; --n)
        table.select(2, draw_.below(columns_)).fill_(kMinusInfinity);
      if (draw_.chance(0.5))
        table[draw_.below(heads_)][draw_.below(table_rows)][draw_.below(columns_)] = kMinusInfinity;
      if (draw_.chance(0.1)) table[draw_.below(heads_)][draw_.below(table_rows)].fill_(kMinusInfinity);
    }
    table_ = of(table);
    if (table_rows == 1) table_.steps[2] = 0;
    if (draw_.chance(0.5)) {
      scale_ = make({draw_.chance(0.7) ? heads_ : 1});
      scale_.steps = {0, scale_.value.size() > 1 ? 1 : 0, 0, 0};
    }
  }

  std::vector<std::pair<const char*, Operand*>> operands() {
    return {{"query", &query_},   {"key", &key_},           {"row", &row_},
            {"column", &column_}, {"table", &table_},       {"left", &left_},
            {"right", &right_},   {"table_scale", &scale_}, {"value", &value_}};
  }

  /// One row of S: the logits, and how far float32 may be off.
  struct Entry {
    double s = 0, off = 0;
  };
  Entry entry(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double sum = 0, size = 0, terms = 4;
    const auto product = [&](double x, double y, double factor) {
      sum += factor * x * y;
      size += std::abs(factor * x * y);
      ++terms;
    };
    if (query_.there()) {
      for (int64_t f = 0; f < query_.tensor.size(3); ++f)
        product(query_.value[query_.at(b, h, i, f)], key_.value[key_.at(b, h, j, f)], logits_.scale);
    }
    if (row_.there()) {
      for (int64_t g = 0; g < row_.tensor.size(-1); ++g)
        product(row_.value[row_.at(b, h, i, g)], column_.value[column_.at(b, h, j, g)], 1);
    }
    if (table_.there()) {
      const double scale = scale_.there() ? scale_.value[scale_.at(b, h, 0, 0)] : 1;
      product(table_.value[table_.at(b, h, i, j)], scale, 1);
    }
    if (left_.there()) product(left_.value[left_place(b, h, i, j)], right_.value[right_place(b, h, i, j)], 1);
    if (!std::isfinite(sum)) return {sum, 0};
    return {sum, kRounding * terms * size + kLeast * terms};
  }
  size_t left_place(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return left_.at(b, h, i, j % left_.tensor.size(3));
  }
  size_t right_place(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return right_.at(b, h, i, logits_.tile ? j % right_.tensor.size(3) : j / left_.tensor.size(3));
  }

  /// The weights of a row that sees its first `visible` columns.
  struct Weight {
    double p = 0, off = 0;
  };
  /// `reach`: the largest logit, in size, of the columns that any sample may have.
  std::vector<Weight> weights(const std::vector<Entry>& entries, double reach) const {
    size_t largest = 0;
    for (size_t j = 0; j < entries.size(); ++j) {
      if (entries[j].s > entries[largest].s) largest = j;
    }
    const Entry top = entries[largest];
    double sum = 0;
    for (const Entry& e : entries) sum += std::exp(e.s - top.s);
    // Rounding of a logit, of its difference to the largest and of the saved logarithm: relative in the
    // weight.
    const auto error = [&](const Entry& e) {
      return e.off + kRounding * (16 + std::min(std::abs(e.s - top.s), 200.0) + 4 * reach);
    };
    std::vector<Weight> row;
    double of_sum = 0;
    for (const Entry& e : entries) {
      const double p = std::exp(e.s - top.s) / sum;
      row.push_back({p, 0});
      if (p > 0) of_sum += p * std::expm1(error(e));
    }
    const double count = static_cast<double>(entries.size());
    // What is lost below the least number is lost again as often as weights that serve the whole batch are
    // divided by a sample's share of at least 1e-12 (WeightRows::underflowed).
    const double lost = logits_.global() && mask_.column_lengths.defined() ? 1e-33 : 1e-37;
    for (size_t j = 0; j < entries.size(); ++j) {
      const Entry& e = entries[j];
      const double most = std::exp(std::min(0.0, e.s + error(e) - top.s + error(top)));
      const double relative = std::expm1(error(e)) + of_sum + kRounding * (count + 8);
      const double first_order = row[j].p > 0 ? row[j].p * relative : most;
      row[j].off = std::min(std::isnan(first_order) ? 1 : first_order, std::max(most, row[j].p)) + lost;
      if (e.s == kMinusInfinity) row[j].off = 0;
    }
    return row;
  }

  std::string compare() {
    for (auto& [name, operand] : operands()) {
      if (operand->there()) operand->tensor.requires_grad_();
    }
    logits_.query = query_.tensor, logits_.key = key_.tensor, logits_.row = row_.tensor;
    logits_.column = column_.tensor, logits_.table = table_.tensor, logits_.table_scale = scale_.tensor;
    logits_.left = left_.tensor, logits_.right = right_.tensor;
    const auto result = attend(logits_, mask_, value_.tensor);
    result.backward(grad_);
    compute();
    auto found = difference("result", result, y_, y_bound_);
    const bool global = logits_.global() && (table_.there() || row_.there());
    if (found.empty() && global && dtype_ == at::kFloat && !mask_.column_lengths.defined()) {
      c10::NoGradGuard no_grad;
      const auto again =
          attend_with_global_weights(global_weights(logits_, mask_.causal), mask_, value_.tensor);
      found = difference("result of ready weights", again, y_, y_bound_);
    }
    // (What becomes of gradients around a row of NaN: nonfinite_test.cpp.)
    for (auto& [name, operand] : operands()) {
      if (!found.empty() || nan_row_ || !operand->there()) continue;
      if (operand == &scale_ && hidden_) continue;  // 0 · -infinity, in PyTorch too
      found = difference(fmt::format("gradient of {}", name).c_str(), operand->tensor.grad(),
                         operand->gradient, operand->bound);
    }
    return found;
  }

  void compute() {
    const auto grad = numbers_of(grad_);
    y_.assign(grad.size(), 0);
    y_bound_.assign(grad.size(), 0);
    const auto length = [](const at::Tensor& lengths, int64_t b, int64_t otherwise) {
      return lengths.defined() ? lengths[b].item<int64_t>() : otherwise;
    };
    for (int64_t b = 0; b < batch_; ++b) {
      const int64_t rows = length(mask_.row_lengths, b, rows_),
                    columns = length(mask_.column_lengths, b, columns_);
      for (int64_t h = 0; h < heads_; ++h) {
        for (int64_t i = 0; i < rows; ++i) {
          const int64_t visible = mask_.causal ? std::min(columns, i + 1) : columns;
          const auto place = static_cast<size_t>(((b * heads_ + h) * rows_ + i) * width_);
          if (visible > 0)
            one_row(b, h, i, visible, grad.data() + place, y_.data() + place, y_bound_.data() + place);
        }
      }
    }
  }

  void one_row(int64_t b, int64_t h, int64_t i, int64_t visible, const double* grad, double* y,
               double* y_off) {
    std::vector<Entry> entries;
    for (int64_t j = 0; j < visible; ++j) entries.push_back(entry(b, h, i, j));
    // Weights that serve the whole batch are made for all columns, and divided by a sample's share.
    double reach = 0;
    for (int64_t j = 0; j < (mask_.causal ? i + 1 : columns_); ++j) {
      const double s = j < visible ? entries[static_cast<size_t>(j)].s : entry(b, h, i, j).s;
      if (std::isfinite(s)) reach = std::max(reach, std::abs(s));
    }
    const auto row = weights(entries, reach);
    if (!std::isfinite(row[0].p)) nan_row_ = true;
    const double many = static_cast<double>(visible + batch_ * rows_ + width_ + 8);
    for (int64_t j = 0; j < visible; ++j) {
      const auto [p, off] = row[static_cast<size_t>(j)];
      for (int64_t k = 0; k < width_; ++k) {
        const size_t place = value_.at(b, h, j, k);
        const double v = value_.value[place];
        y[k] += p * v;
        y_off[k] += (off + kRounding * many * p) * std::abs(v) + kLeast;
        value_.add(place, p * grad[k], (off + kRounding * many * p) * std::abs(grad[k]) + kLeast);
      }
    }
    // dS = P (dP - D), D the sum of P dP, which the kernel takes from the rounded result.
    const double result_rounding = dtype_ == at::kBFloat16 ? kNearestBFloat16 : kRounding;
    std::vector<double> dp(row.size()), dp_off(row.size());
    double d = 0, d_off = 0;
    for (int64_t k = 0; k < width_; ++k)
      d_off += std::abs(grad[k]) * (y_off[k] + result_rounding * std::abs(y[k]) + kLeast);
    for (size_t j = 0; j < row.size(); ++j) {
      for (int64_t k = 0; k < width_; ++k) {
        const double term = grad[k] * value_.value[value_.at(b, h, static_cast<int64_t>(j), k)];
        dp[j] += term;
        dp_off[j] += kRounding * many * std::abs(term) + kLeast;
      }
      d += row[j].p * dp[j];
      d_off += row[j].off * std::abs(dp[j]) + row[j].p * (dp_off[j] + kRounding * many * std::abs(dp[j]));
    }
    for (size_t j = 0; j < row.size(); ++j) {
      const auto [p, off] = row[j];
      const double ds = p * (dp[j] - d);
      const double ds_off = off * (std::abs(dp[j] - d) + dp_off[j] + d_off) + p * (dp_off[j] + d_off) +
                            kRounding * many * p * (std::abs(dp[j]) + std::abs(d)) + kLeast;
      backward_entry(b, h, i, static_cast<int64_t>(j), ds, ds_off + kRounding * many * std::abs(ds));
    }
  }

  /// From the gradient of one logit to those of what it was made of.
  void backward_entry(int64_t b, int64_t h, int64_t i, int64_t j, double ds, double off) {
    const auto share = [&](Operand& to, size_t place, double factor) {
      to.add(place, ds * factor, off * std::abs(factor) + kLeast);
    };
    if (query_.there()) {
      for (int64_t f = 0; f < query_.tensor.size(3); ++f) {
        const size_t q = query_.at(b, h, i, f), k = key_.at(b, h, j, f);
        share(query_, q, logits_.scale * key_.value[k]);
        share(key_, k, logits_.scale * query_.value[q]);
      }
    }
    if (row_.there()) {
      for (int64_t g = 0; g < row_.tensor.size(-1); ++g) {
        const size_t r = row_.at(b, h, i, g), c = column_.at(b, h, j, g);
        share(row_, r, column_.value[c]);
        share(column_, c, row_.value[r]);
      }
    }
    if (table_.there()) {
      const size_t t = table_.at(b, h, i, j), s = scale_.there() ? scale_.at(b, h, 0, 0) : 0;
      share(table_, t, scale_.there() ? scale_.value[s] : 1);
      if (scale_.there()) share(scale_, s, table_.value[t]);
    }
    if (left_.there()) {
      const size_t l = left_place(b, h, i, j), r = right_place(b, h, i, j);
      share(left_, l, right_.value[r]);
      share(right_, r, left_.value[l]);
    }
  }

  int64_t batch_ = 0, heads_ = 0, rows_ = 0, columns_ = 0, width_ = 0;
  Logits logits_;
  Mask mask_;
  Operand query_, key_, row_, column_, table_, scale_, left_, right_, value_;
  at::Tensor grad_;
  std::vector<double> y_, y_bound_;
  bool hidden_ = false;   ///< the table has -infinity
  bool nan_row_ = false;  ///< a row sees nothing but -infinity
};

// --- convolve ---

class ConvolveProblem : RandomProblem {
 public:
  explicit ConvolveProblem(Draw& draw) : RandomProblem(draw) {
    batch_ = draw.from(1, 3), heads_ = draw.from(1, 3), width_ = draw.from(1, 20);
    rows_ = random_length(1), taps_ = draw.from(1, 9), left_ = draw.below(taps_);
    shared_ = draw.chance(0.5);
    const int64_t channels = heads_ * width_;
    input_ = random_tensor({batch_, rows_, channels}, draw.kind());
    weight_ = shared_ ? random_tensor({heads_, taps_}, draw.kind())
                      : random_tensor({batch_, rows_, heads_, taps_}, draw.kind());
    if (draw.chance(0.5)) lengths_ = random_lengths(batch_, rows_);
    grad_ = random_tensor({batch_, rows_, channels}, draw.kind());
  }

  std::string check() {
    input_.requires_grad_();
    weight_.requires_grad_();
    const auto result = convolve(input_, weight_, lengths_, left_);
    result.backward(grad_);
    compute();
    auto found = difference("result", result, y_, y_off_);
    if (found.empty()) found = difference("gradient of input", input_.grad(), dx_, dx_off_);
    if (found.empty()) found = difference("gradient of weight", weight_.grad(), dw_, dw_off_);
    if (found.empty()) return "";
    return fmt::format("convolve, {}×{}, {} heads of {}, {} taps, {} left{}{}{}: {}", batch_, rows_, heads_,
                       width_, taps_, left_, shared_ ? ", shared" : "", lengths_.defined() ? ", lengths" : "",
                       dtype_ == at::kBFloat16 ? ", bfloat16" : "", found);
  }

 private:
  void compute() {
    const auto x = numbers_of(input_), w = numbers_of(weight_), g = numbers_of(grad_);
    y_.assign(x.size(), 0), y_off_ = dx_ = dx_off_ = y_;
    dw_.assign(w.size(), 0), dw_off_ = dw_;
    const int64_t channels = heads_ * width_;
    const double many = static_cast<double>(batch_ * rows_ * width_ + taps_ + 8);
    const auto add = [&](std::vector<double>& to, std::vector<double>& off, size_t place, double term) {
      to[place] += term;
      off[place] += kRounding * many * std::abs(term) + kLeast;
    };
    for (int64_t b = 0; b < batch_; ++b) {
      const int64_t length = lengths_.defined() ? lengths_[b].item<int64_t>() : rows_;
      for (int64_t i = 0; i < length; ++i) {
        for (int64_t t = 0; t < taps_; ++t) {
          const int64_t j = i + t - left_;
          if (j < 0 || j >= length) continue;
          for (int64_t c = 0; c < channels; ++c) {
            const int64_t h = c / width_, position = shared_ ? 0 : b * rows_ + i;
            const auto from = static_cast<size_t>((b * rows_ + j) * channels + c);
            const auto to = static_cast<size_t>((b * rows_ + i) * channels + c);
            const auto tap = static_cast<size_t>((position * heads_ + h) * taps_ + t);
            add(y_, y_off_, to, w[tap] * x[from]);
            add(dx_, dx_off_, from, w[tap] * g[to]);
            add(dw_, dw_off_, tap, x[from] * g[to]);
          }
        }
      }
    }
  }

  int64_t batch_ = 0, heads_ = 0, width_ = 0, rows_ = 0, taps_ = 0, left_ = 0;
  bool shared_ = false;
  at::Tensor input_, weight_, lengths_, grad_;
  std::vector<double> y_, y_off_, dx_, dx_off_, dw_, dw_off_;
};

}  // namespace

std::string check_random_case(uint64_t seed) {
  Draw draw(seed);
  if (draw.chance(0.15)) return ConvolveProblem(draw).check();
  return AttendProblem(draw).check();
}

}  // namespace synthesizer::testing
