#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

namespace synthesizer {

/// A weight matrix W (out×in) in a form that inference is faster or smaller with. Immutable: any number of
/// threads may use it at once, and it does not change with the tensor that it was made from.
class MatrixForm {
 public:
  virtual ~MatrixForm() = default;
  /// x Wᵀ + b, for x n×in of float32; an undefined bias is none. No gradients.
  virtual at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const = 0;
};
using MatrixFormPtr = std::shared_ptr<const MatrixForm>;

/// float32 in the order in which the product reads it (kernel/product.h).
class PackedMatrix : public MatrixForm {
 public:
  /// `weight`: out×in, float32 on the CPU. Throws InvalidInput for anything else.
  explicit PackedMatrix(const at::Tensor& weight);
  ~PackedMatrix() override;

  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const override;

 private:
  struct Panels;
  int64_t out_;
  std::unique_ptr<Panels> panels_;
};

/// Whole numbers from -127 to 127 and a scale for each row: W ≈ scale · q, a quarter of the memory. The
/// product rounds each row of x too, to 63 steps on either side of zero up to its own largest entry, so that
/// a row's result does not depend on the other rows. LibTorch's int8 product (FBGEMM) does the arithmetic.
class Int8Matrix : public MatrixForm {
 public:
  /// `quantized`: out×in of int8; `scale`: out of float32.
  Int8Matrix(at::Tensor quantized, at::Tensor scale);
  ~Int8Matrix() override;

  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const override;
  at::Tensor rows(const at::Tensor& indices) const;  ///< W[indices], float32
  at::Tensor plain() const;                          ///< W, float32

  const at::Tensor& quantized() const { return quantized_; }
  const at::Tensor& scale() const { return scale_; }

 private:
  struct Packed;
  at::Tensor quantized_, scale_;
  std::unique_ptr<Packed> packed_;
};

/// The nearest numbers of that kind: the largest of each row becomes ±127.
std::shared_ptr<const Int8Matrix> quantize_int8(const at::Tensor& weight);

/// The form as int8, or none where it is another or there is none.
const Int8Matrix* as_int8(const MatrixFormPtr& form);
/// The numbers of a weight: the tensor itself, or where it is quantized what the form stands for.
at::Tensor plain_matrix(const at::Tensor& weight, const MatrixFormPtr& form);

}  // namespace synthesizer
