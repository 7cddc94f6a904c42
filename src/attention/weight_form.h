#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

#include <memory>
#include <mutex>

namespace synthesizer {

/// Another form of a weight matrix W (out×in), which rides on its tensor and ends with it.
class WeightForm : public c10::BackendMeta {
 public:
  /// Whether the tensor itself holds no numbers any more, so that the form is all there is.
  virtual bool replaces_weight() const = 0;
  /// Whether the tensor is still what the form was made from.
  virtual bool describes(const at::Tensor& weight) const = 0;
  /// x Wᵀ + b, for x n×in of float32.
  virtual at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const = 0;
  /// W[indices].
  virtual at::Tensor rows(const at::Tensor& indices) const = 0;
};

/// The form a tensor has, or none; and setting it. One thread at a time.
c10::intrusive_ptr<WeightForm> form_of(const at::Tensor& weight);
void set_form(const at::Tensor& weight, c10::intrusive_ptr<WeightForm> form);

/// The numbers of a weight: the tensor itself, or where a form replaces it what that stands for.
at::Tensor plain_weight(const at::Tensor& weight);

/// float32 in the order in which the product reads it (kernel/product.h).
class PackedWeight : public WeightForm {
 public:
  explicit PackedWeight(const at::Tensor& weight);
  ~PackedWeight() override;

  bool replaces_weight() const override { return false; }
  bool describes(const at::Tensor& weight) const override;
  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const override;
  at::Tensor rows(const at::Tensor& indices) const override;

 private:
  struct Panels;
  c10::Storage memory_;  ///< held, so that its address is not given to another
  int64_t offset_, version_, out_;
  std::unique_ptr<Panels> panels_;
};

/// Whole numbers from -127 to 127 and a scale for each row: W ≈ scale · q. Applied by LibTorch's quantized
/// linear (FBGEMM), which rounds the inputs to 7 bits too, in steps that suit all rows of a call together.
/// The bias of the first call is packed with it and stays.
class Int8Weight : public WeightForm {
 public:
  Int8Weight(at::Tensor quantized, at::Tensor scale) : q_(std::move(quantized)), scale_(std::move(scale)) {}

  bool replaces_weight() const override { return true; }
  bool describes(const at::Tensor&) const override { return true; }
  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const override;
  at::Tensor rows(const at::Tensor& indices) const override;

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

}  // namespace synthesizer
