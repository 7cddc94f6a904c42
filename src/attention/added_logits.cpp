#include "attention/added_logits.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <fmt/format.h>

#include <cmath>

#include "attention/kernel/problem.h"
#include "base/error.h"

namespace synthesizer {
namespace {

using Sizes = std::vector<c10::SymInt>;

bool has_sizes(const at::Tensor& t, const Sizes& wanted) {
  if (t.dim() != static_cast<int64_t>(wanted.size())) return false;
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (t.sym_size(static_cast<int64_t>(d)) != wanted[d]) return false;
  }
  return true;
}

void check_addition(const char* name, const at::Tensor& t, const at::Tensor& x, int64_t heads, bool mask) {
  const auto b = x.sym_size(0), l = x.sym_size(1);
  const bool fits = has_sizes(t, {b, heads, l, l}) ||
                    (mask ? has_sizes(t, {l, l}) || has_sizes(t, {b, l, l}) : has_sizes(t, {heads, l, l}));
  if (!fits) {
    invalid(fmt::format("{} has shape {} for x of {} and {} heads: it must be {}", name,
                        kernel::shape_text(t), kernel::shape_text(x), heads,
                        mask ? "length×length, batch×length×length or batch×heads×length×length"
                             : "heads×length×length or batch×heads×length×length"));
  }
  if (t.device() != x.device()) {
    invalid(
        fmt::format("{} is on {} and x on {}: move one of them", name, t.device().str(), x.device().str()));
  }
  if (mask && t.scalar_type() == at::kBool) return;
  const bool converted = t.is_floating_point() && at::autocast::is_autocast_enabled(x.device().type());
  if (t.scalar_type() != x.scalar_type() && !converted) {
    invalid(fmt::format("{} has dtype {} and x {}: it must be {}that of x", name,
                        c10::toString(t.scalar_type()), c10::toString(x.scalar_type()),
                        mask ? "boolean (True: may be seen) or " : ""));
  }
}

/// Entries that the layer itself hides, for any of 1 or B × 1 × L×L.
at::Tensor hidden_by_layer(const Mask& visible, const c10::SymInt& length, const at::Tensor& like) {
  const auto place = at::arange(length, like.options().dtype(at::kLong));
  at::Tensor hidden;
  if (visible.causal) hidden = place.ge(place.unsqueeze(1) + 1).view_symint({1, 1, length, length});
  if (visible.column_lengths.defined()) {
    const auto beyond = place.ge(visible.column_lengths.view({-1, 1, 1, 1}));  // B×1×1×L
    hidden = hidden.defined() ? hidden.logical_or(beyond) : beyond;
  }
  return hidden;
}

}  // namespace

AddedLogits AddedLogits::corner(int64_t length) const {
  AddedLogits smaller;
  if (shared.defined()) smaller.shared = shared.narrow(1, 0, length).narrow(2, 0, length);
  return smaller;
}

AddedLogits add_to_logits(const at::Tensor& bias, const at::Tensor& mask, const Mask& visible,
                          const at::Tensor& x, int64_t heads) {
  AddedLogits added;
  if (bias.defined()) {
    check_addition("bias", bias, x, heads, /*mask=*/false);
    (bias.dim() == 3 ? added.shared : added.own) = bias;
  }
  if (!mask.defined()) return added;
  check_addition("mask", mask, x, heads, /*mask=*/true);
  const auto length = x.sym_size(1);
  const bool boolean = mask.scalar_type() == at::kBool;
  auto whole = mask.dim() == 2 ? mask.unsqueeze(0).unsqueeze(0) : mask.dim() == 3 ? mask.unsqueeze(1) : mask;
  const auto hidden = boolean ? whole.logical_not() : whole.eq(-INFINITY);  // B or 1 × H or 1 × L×L
  const auto by_layer = hidden_by_layer(visible, length, hidden);
  added.blind_row =
      (by_layer.defined() ? hidden.logical_or(by_layer) : hidden).all(/*dim=*/-1, /*keepdim=*/true);
  if (boolean) whole = at::zeros_like(hidden, x.options());
  // What is hidden; but rows of which nothing is left stay as they are, and are set to 0 afterwards.
  auto sum =
      whole.masked_fill(hidden, 0).masked_fill(hidden.logical_and(added.blind_row.logical_not()), -INFINITY);
  const bool for_all = mask.dim() == 2 && !visible.column_lengths.defined();
  if (for_all && !added.own.defined()) {
    sum = sum.squeeze(0).expand_symint({heads, length, length});
    added.shared = added.shared.defined() ? added.shared + sum : sum;
  } else {
    added.own =
        added.own.defined() ? added.own + sum : sum.expand_symint({x.sym_size(0), heads, length, length});
  }
  return added;
}

at::Tensor without_blind_rows(const at::Tensor& t, const AddedLogits& added) {
  return added.blind_row.defined() ? t.masked_fill(added.blind_row, 0) : t;
}

}  // namespace synthesizer
