#pragma once

#include <string>
#include <tuple>

#include "attention/logits.h"

namespace synthesizer::kernel {

/// Everything one call of the operator is asked to compute, with its sizes.
struct Problem {
  Logits logits;
  Mask mask;
  at::Tensor value;  ///< B×H×M×K
  Dropout dropout;

  int64_t batch() const { return value.size(0); }
  int64_t heads() const { return value.size(1); }
  int64_t columns() const { return value.size(2); }
  int64_t width() const { return value.size(3); }
  int64_t rows() const;  ///< of the parts that have it, else logits.rows, else as many as columns

  /// Rows and columns of sample b that are not padding.
  int64_t rows_of(int64_t b) const;
  int64_t columns_of(int64_t b) const;

  /// Throws InvalidInput where parts don't fit together, before anything is computed.
  void check() const;
};

/// Throws InvalidInput unless lengths are undefined or one int64 number per sample from 0 to `most`. The
/// numbers themselves are checked where they can be read: on the CPU, and not while a graph is traced.
void check_lengths(const char* name, const at::Tensor& lengths, const c10::SymInt& batch,
                   const c10::SymInt& most);

/// "2×5×16", for messages.
std::string shape_text(const at::Tensor& t);

/// One tensor for each differentiable input, undefined where absent or not asked for.
struct Gradients {
  at::Tensor query, key, row, column, table, left, right, value, table_scale, bias;
};

/// Which of them are asked for, in the same order.
struct NeededGradients {
  bool query, key, row, column, table, left, right, value, table_scale, bias;
};

/// What forward gives: the result, and what backward wants to see again: the logarithm of each row's sum of
/// exponentials, B×H×L; nothing (an empty tensor) where the logits are global.
using Result = std::tuple<at::Tensor, at::Tensor>;

/// B×H×L×K whose memory is B×L×H×K: joining the heads of it is a view.
at::Tensor empty_result(const Problem& problem);

}  // namespace synthesizer::kernel
