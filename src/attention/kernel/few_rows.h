#pragma once

#include "attention/kernel/matrix.h"

namespace synthesizer::kernel {

/// c = alpha · a · b, or c += alpha · a · b, for a left factor of a few rows, as decoding has: b is read
/// where it lies, once, which a BLAS that packs its operands first does not do. Columns of c lie side by
/// side, and so do those of a where b's do not.
void multiply_few_rows(float alpha, const Matrix& a, const Matrix& b, bool add, const Matrix& c);

/// Whether the factors lie as that wants them.
inline bool few_rows_supports(const Matrix& a, const Matrix& b, const Matrix& c) {
  return c.column_stride == 1 && (b.column_stride == 1 || (b.row_stride == 1 && a.column_stride == 1));
}

}  // namespace synthesizer::kernel
