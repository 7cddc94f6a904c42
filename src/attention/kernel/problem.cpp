#include "attention/kernel/problem.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"

namespace synthesizer::kernel {
namespace {

/// -1 stands for any size.
void expect(const char* name, const at::Tensor& t, std::initializer_list<int64_t> wanted) {
  bool fits = t.dim() == static_cast<int64_t>(wanted.size());
  for (int64_t d = 0; fits && d < t.dim(); ++d) {
    int64_t size = *(wanted.begin() + d);
    fits = size < 0 || size == t.size(d);
  }
  if (fits) return;
  auto text = [](int64_t size) { return size < 0 ? std::string("any") : std::to_string(size); };
  std::string list;
  for (int64_t size : wanted) list += (list.empty() ? "" : "×") + text(size);
  invalid(fmt::format("{} has shape {}: it must be {}", name, shape_text(t), list));
}

int64_t length_of(const at::Tensor& lengths, int64_t b, int64_t otherwise) {
  if (!lengths.defined()) return otherwise;
  return lengths.const_data_ptr<int64_t>()[b * lengths.stride(0)];
}

}  // namespace

std::string shape_text(const at::Tensor& t) {
  std::ostringstream out;  // sizes may be symbols
  for (int64_t d = 0; d < t.dim(); ++d) out << (d > 0 ? "×" : "") << t.sym_size(d);
  return out.str();
}

void check_lengths(const char* name, const at::Tensor& lengths, const c10::SymInt& batch,
                   const c10::SymInt& most) {
  if (!lengths.defined()) return;
  if (lengths.scalar_type() != at::kLong || lengths.dim() != 1) {
    invalid(fmt::format("{} must be one int64 number per sample, not {} of shape {}", name,
                        c10::toString(lengths.scalar_type()), shape_text(lengths)));
  }
  if (lengths.sym_size(0) != batch) {
    invalid(fmt::format("{} has {} entries for a batch of {}: there must be one per sample", name,
                        shape_text(lengths), batch.guard_int(__FILE__, __LINE__)));
  }
  // Looking would make a device wait; while a graph is traced there is nothing to see.
  if (!lengths.is_cpu() || lengths.key_set().has(c10::DispatchKey::Python)) return;
  const auto flat = lengths.contiguous();
  const int64_t limit = most.guard_int(__FILE__, __LINE__);
  for (int64_t b = 0; b < flat.size(0); ++b) {
    int64_t n = flat.const_data_ptr<int64_t>()[b];
    if (n < 0 || n > limit) {
      invalid(fmt::format("{}[{}] is {}: it must be from 0 to {}", name, b, n, limit));
    }
  }
}

int64_t Problem::rows() const {
  if (logits.query.defined()) return logits.query.size(2);
  if (logits.row.defined()) return logits.row.size(-2);
  if (logits.left.defined()) return logits.left.size(2);
  if (logits.bias.defined()) return logits.bias.size(-2);
  if (logits.table.defined() && logits.table.size(1) != 1) return logits.table.size(1);
  return logits.rows.value_or(columns());
}

int64_t Problem::rows_of(int64_t b) const {
  return length_of(mask.row_lengths, b, rows());
}

int64_t Problem::columns_of(int64_t b) const {
  return length_of(mask.column_lengths, b, columns());
}

void Problem::check() const {
  const auto dtype = value.scalar_type();
  if (dtype != at::kFloat && dtype != at::kBFloat16 && dtype != at::kDouble) {
    invalid(fmt::format("value has dtype {}: it must be float32, bfloat16 or float64", c10::toString(dtype)));
  }
  if (value.dim() != 4) {
    invalid(fmt::format("value has shape {}: it must be batch×heads×columns×width", shape_text(value)));
  }
  const int64_t b = batch(), h = heads(), m = columns();
  auto pair = [&](const char* names, const at::Tensor& first, const at::Tensor& second) {
    if (first.defined() != second.defined()) {
      invalid(fmt::format("{} go together: one of them is missing", names));
    }
  };
  pair("query and key", logits.query, logits.key);
  pair("row and column", logits.row, logits.column);
  pair("left and right", logits.left, logits.right);
  const int64_t l = rows();
  if (l < 0 || logits.rows.value_or(l) != l) {
    invalid(fmt::format(
        "rows is {}: {}", *logits.rows,
        l < 0 ? std::string("it must be at least 0") : fmt::format("the logits have {} rows", l)));
  }
  if (logits.query.defined()) {
    expect("query", logits.query, {b, h, l, -1});
    expect("key", logits.key, {b, h, m, logits.query.size(3)});
  }
  if (logits.row.defined()) {
    if (logits.row.dim() == 3) {
      expect("row", logits.row, {h, l, -1});
    } else {
      expect("row", logits.row, {b, h, l, -1});
    }
    expect("column", logits.column, {h, m, logits.row.size(-1)});
  }
  if (logits.table.defined()) {
    const bool one_row = logits.table.dim() == 3 && logits.table.size(1) == 1;
    expect("table", logits.table, {h, one_row ? 1 : l, m});
  }
  if (const at::Tensor& scale = logits.table_scale; scale.defined()) {
    if (!logits.table.defined()) invalid("table_scale is given without a table");
    expect("table_scale", scale, {scale.dim() == 1 && scale.size(0) == 1 ? 1 : h});
    if (scale.scalar_type() != dtype && scale.scalar_type() != at::kFloat) {
      invalid(fmt::format("table_scale has dtype {}: it must be float32 or that of value",
                          c10::toString(scale.scalar_type())));
    }
  }
  if (logits.left.defined()) {
    expect("left", logits.left, {b, h, l, -1});
    expect("right", logits.right, {b, h, l, -1});
    const int64_t a = logits.left.size(3), c = logits.right.size(3);
    if (a < 1 || c < 1 || (!logits.tile && a * c < m)) {
      invalid(fmt::format("left and right have {} and {} columns: their product must reach {}", a, c, m));
    }
  }
  if (logits.bias.defined()) expect("bias", logits.bias, {b, h, l, m});
  for (const auto& [name, tensor] : {std::pair<const char*, const at::Tensor&>{"query", logits.query},
                                     {"key", logits.key},
                                     {"row", logits.row},
                                     {"column", logits.column},
                                     {"table", logits.table},
                                     {"left", logits.left},
                                     {"right", logits.right},
                                     {"bias", logits.bias}}) {
    if (!tensor.defined()) continue;
    if (tensor.scalar_type() != dtype) {
      invalid(fmt::format("{} has dtype {} and value {}: all must have one", name,
                          c10::toString(tensor.scalar_type()), c10::toString(dtype)));
    }
    if (tensor.device() != value.device()) {
      invalid(fmt::format("{} is on {} and value on {}: all must be on one device", name,
                          tensor.device().str(), value.device().str()));
    }
  }
  if (mask.causal && l != m) {
    invalid(fmt::format("a causal mask needs as many rows as columns, not {} and {}", l, m));
  }
  check_lengths("row_lengths", mask.row_lengths, b, l);
  check_lengths("column_lengths", mask.column_lengths, b, m);
  if (!(dropout.probability >= 0 && dropout.probability < 1)) {
    invalid(fmt::format("dropout is {}: it must be at least 0 and below 1", dropout.probability));
  }
}

at::Tensor empty_result(const Problem& p) {
  return at::empty({p.batch(), p.rows(), p.heads(), p.width()}, p.value.options()).transpose(1, 2);
}

}  // namespace synthesizer::kernel
