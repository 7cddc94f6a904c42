#pragma once

#include <cstdint>

namespace synthesizer::kernel {

/// A matrix of floats somewhere in memory, one of its strides being 1.
struct Matrix {
  float* data = nullptr;
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0, column_stride = 1;

  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
  Matrix row_range(int64_t begin, int64_t end) const {
    return {data + begin * row_stride, end - begin, columns, row_stride, column_stride};
  }
  Matrix column_range(int64_t begin, int64_t end) const {
    return row_range(0, rows).transposed().row_range(begin, end).transposed();
  }
};

/// c = alpha · a b + beta · c, by the BLAS inside LibTorch. Called from inside a parallel region it uses
/// the calling thread alone.
void multiply(float alpha, const Matrix& a, const Matrix& b, float beta, const Matrix& c);

}  // namespace synthesizer::kernel
