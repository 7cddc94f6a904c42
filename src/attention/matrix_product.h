#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// a bᵀ + bias, for a N×K and b M×K; an undefined bias is none. The product of training: its gradients are
/// products of the same form, and any tensors will do (other devices and dtypes, compilation, autocast).
///
/// LibTorch makes it, or the packed product of the attention kernel where that is faster: MKL, the BLAS in
/// LibTorch, uses only half of the vector units of AMD processors with AVX-512, whose code it keeps for
/// Intel's.
at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias = {});

/// sum += a bᵀ, without gradients.
void add_matrix_product(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b);

/// Whose products: of this processor the faster ones, unless $SYNTHESIZER_PRODUCTS is "own" or "libtorch".
enum class Products { own, libtorch };
Products default_products();
/// Sets it for a scope, in all threads: for tests and measurements.
class UseProducts {
 public:
  explicit UseProducts(Products products);
  ~UseProducts();
  UseProducts(const UseProducts&) = delete;
  UseProducts& operator=(const UseProducts&) = delete;

 private:
  Products before_;
};

/// Whether the product of these, a …×K, is the kernel's own.
bool has_own_product(const at::Tensor& a, const at::Tensor& b);

}  // namespace synthesizer
