#include "inspect/low_rank.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace synthesizer {
namespace {

constexpr int kRounds = 40;
constexpr double kEnough = 1e-4;  // a round that gains less than this share is the last

/// The truncated SVD of the table with rows and columns stretched by how much they count on average.
void start_from_svd(const at::Tensor& table, const at::Tensor& weight, int64_t rank, at::Tensor& left,
                    at::Tensor& right) {
  const auto rows = weight.mean(1, true).clamp_min(1e-12).sqrt();     // N×1
  const auto columns = weight.mean(0, true).clamp_min(1e-12).sqrt();  // 1×N
  const auto [u, s, v] = at::linalg_svd(table * rows * columns, /*full_matrices=*/false);
  const auto root = s.narrow(0, 0, rank).sqrt();
  left = u.narrow(1, 0, rank) * root / rows;              // N×k
  right = v.narrow(0, 0, rank).t() * root / columns.t();  // N×k
}

/// For fixed factors of the columns, the best ones of all rows: N small systems.
at::Tensor best_rows(const at::Tensor& table, const at::Tensor& weight, const at::Tensor& right) {
  const int64_t n = right.size(0), k = right.size(1);
  const auto pairs = (right.unsqueeze(2) * right.unsqueeze(1)).view({n, k * k});  // N×k²
  auto normal = at::matmul(weight, pairs).view({-1, k, k});                       // N×k×k
  const auto ridge = normal.diagonal(0, 1, 2).mean(1).clamp_min(1e-12) * 1e-6;    // N
  normal = normal + ridge.view({-1, 1, 1}) * at::eye(k, table.options());
  const auto wanted = at::matmul(weight * table, right);  // N×k
  return at::linalg_solve(normal, wanted.unsqueeze(2)).squeeze(2);
}

/// The same product with factors of equal size, so that one learning rate suits both.
void balance(at::Tensor& left, at::Tensor& right) {
  const auto [q, r] = at::linalg_qr(left);
  const auto [p, t] = at::linalg_qr(right);
  const auto [u, s, v] = at::linalg_svd(at::matmul(r, t.t()), /*full_matrices=*/false);
  left = at::matmul(q, u * s.sqrt());
  right = at::matmul(p, v.t() * s.sqrt());
}

}  // namespace

LowRank low_rank(const at::Tensor& given, const at::Tensor& given_weight, int64_t rank) {
  c10::NoGradGuard no_grad;
  const auto weight = given_weight.to(at::kDouble);
  auto table = given.to(at::kDouble);
  table = table - (table * weight).sum(1, true) / weight.sum(1, true).clamp_min(1e-12);
  table = table.masked_fill(weight.eq(0), 0);
  at::Tensor left, right;
  start_from_svd(table, weight, rank, left, right);
  const double all = (weight * table.square()).sum().item<double>();
  auto error = [&] { return (weight * (table - at::matmul(left, right.t())).square()).sum().item<double>(); };
  double now = error();
  const bool alike = weight.max().item<double>() == weight.min().item<double>();
  for (int round = 0; round < kRounds && !alike; ++round) {
    const auto old_left = left, old_right = right;
    const double before = now;
    left = best_rows(table, weight, right);
    right = best_rows(table.t(), weight.t(), left);
    now = error();
    if (now > before) {  // rounding, where there is nothing more to gain
      left = old_left;
      right = old_right;
      now = before;
    }
    if (before - now < kEnough * before) break;
  }
  balance(left, right);
  return {left.to(at::kFloat).contiguous(), right.to(at::kFloat).contiguous(),
          all > 0 ? std::sqrt(now / all) : 0};
}

}  // namespace synthesizer
