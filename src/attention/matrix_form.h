#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

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

class PackedPanels;  // packed_panels.h

/// float32 in the order in which the product reads it (kernel/product.h).
class PackedMatrix : public MatrixForm {
 public:
  /// `weight`: out×in, float32 on the CPU. Throws InvalidInput for anything else.
  explicit PackedMatrix(const at::Tensor& weight);

  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const override;

 private:
  std::shared_ptr<const PackedPanels> panels_;
};

/// What the numbers of a trained model can be rounded to; their names are in quantization.h.
enum class Quantization { int8, bfloat16 };

/// Numbers of fewer bits that a weight was rounded to. They stand for it from then on: in products, where its
/// rows are looked up, and in files.
class QuantizedMatrix : public MatrixForm {
 public:
  /// A tensor that it is saved as: the weight's name with `suffix` behind it.
  struct Part {
    std::string suffix;
    at::Tensor tensor;
  };

  virtual at::Tensor rows(const at::Tensor& indices) const = 0;  ///< W[indices], float32
  virtual at::Tensor plain() const = 0;                          ///< W, float32
  virtual Quantization kind() const = 0;
  virtual std::vector<Part> parts() const = 0;
  /// The same numbers in memory of its own, where they lie in that of a file.
  virtual std::shared_ptr<const QuantizedMatrix> copy() const = 0;
};

/// Whole numbers from -127 to 127 and a scale for each row: W ≈ scale · q, a quarter of the memory. The
/// product rounds each row of x too, to 63 steps on either side of zero up to its own largest entry, so that
/// a row's result does not depend on the other rows. LibTorch's int8 product (FBGEMM) does the arithmetic.
class Int8Matrix : public QuantizedMatrix {
 public:
  static constexpr const char* kScaleSuffix = ".scale";

  /// `quantized`: out×in of int8; `scale`: out of float32.
  Int8Matrix(at::Tensor quantized, at::Tensor scale);
  ~Int8Matrix() override;

  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const override;
  at::Tensor rows(const at::Tensor& indices) const override;
  at::Tensor plain() const override;
  Quantization kind() const override { return Quantization::int8; }
  std::vector<Part> parts() const override;
  std::shared_ptr<const QuantizedMatrix> copy() const override;

 private:
  struct Packed;
  at::Tensor quantized_, scale_;
  std::unique_ptr<Packed> packed_;
};

/// bfloat16: the upper half of a float32, half of the memory. Inputs, products and sums stay float32, in the
/// order of PackedMatrix.
class Bfloat16Matrix : public QuantizedMatrix {
 public:
  /// `weight`: out×in of bfloat16 on the CPU.
  explicit Bfloat16Matrix(at::Tensor weight);

  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const override;
  at::Tensor rows(const at::Tensor& indices) const override;
  at::Tensor plain() const override;
  Quantization kind() const override { return Quantization::bfloat16; }
  std::vector<Part> parts() const override;
  std::shared_ptr<const QuantizedMatrix> copy() const override;

 private:
  Bfloat16Matrix(at::Tensor weight, std::shared_ptr<const PackedPanels> panels);

  at::Tensor weight_;
  std::shared_ptr<const PackedPanels> panels_;
};

/// The nearest numbers of that kind; of int8 the largest of each row becomes ±127.
std::shared_ptr<const QuantizedMatrix> quantized_matrix(const at::Tensor& weight, Quantization kind);

/// The form as numbers of fewer bits, or none where it is another or there is none.
const QuantizedMatrix* as_quantized(const MatrixFormPtr& form);
/// The numbers of a weight: the tensor itself, or where it is quantized what the form stands for.
at::Tensor plain_matrix(const at::Tensor& weight, const MatrixFormPtr& form);

}  // namespace synthesizer
