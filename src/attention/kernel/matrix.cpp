#include "attention/kernel/matrix.h"

#include <algorithm>
#include <stdexcept>

extern "C" void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                       const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                       const float* beta, float* c, const int* ldc);

namespace synthesizer::kernel {
namespace {

struct Operand {
  char transposed;  // as BLAS sees it, which counts columns first
  int leading;
};

bool row_major(const Matrix& m) {
  return m.column_stride == 1 || m.columns == 1;
}

Operand operand(const Matrix& m) {
  if (row_major(m)) return {'N', static_cast<int>(std::max({m.row_stride, m.columns, int64_t{1}}))};
  if (m.row_stride == 1 || m.rows == 1) {
    return {'T', static_cast<int>(std::max({m.column_stride, m.rows, int64_t{1}}))};
  }
  throw std::logic_error("a matrix with no stride of 1 cannot be multiplied");
}

}  // namespace

void multiply(float alpha, const Matrix& a, const Matrix& b, float beta, const Matrix& c) {
  if (c.rows == 0 || c.columns == 0) return;
  if (!row_major(c)) return multiply(alpha, b.transposed(), a.transposed(), beta, c.transposed());
  // BLAS reads row-major c as cᵀ, so it is asked for cᵀ = bᵀ aᵀ.
  const Operand left = operand(b), right = operand(a), out = operand(c);
  const int m = static_cast<int>(c.columns), n = static_cast<int>(c.rows), k = static_cast<int>(a.columns);
  sgemm_(&left.transposed, &right.transposed, &m, &n, &k, &alpha, b.data, &left.leading, a.data,
         &right.leading, &beta, c.data, &out.leading);
}

}  // namespace synthesizer::kernel
