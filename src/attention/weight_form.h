#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>

#include "attention/stamp.h"

namespace synthesizer {

/// Another form of a weight matrix W (out×in), which rides on its tensor and ends with it.
class WeightForm : public c10::BackendMeta {
 public:
  /// x Wᵀ + b, for x n×in of float32.
  virtual at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const = 0;
};

/// The form a tensor has, or none; and setting it. One thread at a time.
c10::intrusive_ptr<WeightForm> form_of(const at::Tensor& weight);
void set_form(const at::Tensor& weight, c10::intrusive_ptr<WeightForm> form);

/// float32 in the order in which the product reads it (kernel/product.h).
class PackedWeight : public WeightForm {
 public:
  explicit PackedWeight(const at::Tensor& weight);
  ~PackedWeight() override;

  /// Whether the tensor still holds the numbers that were packed.
  bool fits(const at::Tensor& weight) const { return stamp_.fits(weight) && out_ == weight.size(0); }
  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const override;

 private:
  struct Panels;
  Stamp stamp_;
  int64_t out_;
  std::unique_ptr<Panels> panels_;
};

/// Whole numbers from -127 to 127 and a scale for each row: W ≈ scale · q, in place of the tensor's numbers.
/// Applied by LibTorch's quantized
/// linear (FBGEMM), which rounds the inputs to 7 bits too, in steps that suit all rows of a call together.
/// The bias of the first call is packed with it and stays.
class Int8Weight : public WeightForm {
 public:
  Int8Weight(at::Tensor quantized, at::Tensor scale) : q_(std::move(quantized)), scale_(std::move(scale)) {}

  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const override;
  at::Tensor rows(const at::Tensor& indices) const;  ///< W[indices]

  const at::Tensor& quantized() const { return q_; }
  const at::Tensor& scale() const { return scale_; }

 private:
  at::Tensor q_, scale_;  ///< out×in of int8, out of float32
  mutable std::once_flag packing_;
  mutable c10::intrusive_ptr<c10::intrusive_ptr_target> packed_;  ///< LibTorch's, made at the first use
};

/// The nearest numbers of that kind: the largest of each row becomes ±127.
c10::intrusive_ptr<Int8Weight> quantize_int8(const at::Tensor& weight);

/// The tensor keeps its shape, but its numbers are the form's alone: whoever reads them finds NaN.
void replace_by_int8(const at::Tensor& weight, c10::intrusive_ptr<Int8Weight> form);
/// What a tensor's numbers were replaced by, or none where it has them itself.
c10::intrusive_ptr<Int8Weight> int8_of(const at::Tensor& weight);
/// The numbers of a weight: the tensor itself, or what stands in their place.
at::Tensor plain_weight(const at::Tensor& weight);

}  // namespace synthesizer
