// How a tensor lies in memory must not matter: slices, transposes and expanded tensors give what contiguous
// copies of the same numbers give.

#include "attention/kernel/problems.h"
#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

const int kLaidOutKinds[] = {query_key | row_column | table | outer, query_key | one_row_table | tiled_outer,
                             table};

Inputs contiguous(Inputs inputs) {
  for (auto& [name, tensor] : inputs.tensors()) *tensor = tensor->contiguous();
  return inputs;
}

using Change = at::Tensor (*)(const at::Tensor&);

/// Applies a change of layout to each tensor in turn, and to all at once.
void check_layout(const char* what, Change change, const Sizes& sizes) {
  for (int parts : kLaidOutKinds) {
    for (bool causal : {false, true}) {
      Inputs original = make_inputs(parts, sizes), all = original;
      original.mask.causal = all.mask.causal = causal;
      for (size_t i = 0; i < original.tensors().size(); ++i) {
        Inputs changed = original;
        auto [name, tensor] = changed.tensors()[i];
        *tensor = change(*tensor);
        expect_close(run(changed), run(contiguous(changed)), 5e-6,
                     what + (" " + name) + " of " + parts_name(parts));
        *all.tensors()[i].second = change(*all.tensors()[i].second);
      }
      expect_close(run(all), run(contiguous(all)), 5e-6, what + (" all of " + parts_name(parts)));
    }
  }
}

/// Many rows and few take different ways through the products.
void check_layout(const char* what, Change change) {
  check_layout(what, change, {3, 2, 50, 50, 4});
  check_layout(what, change, {2, 2, 5, 5, 4});
}

TEST(AttendLayout, transposed) {
  check_layout("transposed",
               [](const at::Tensor& t) { return t.transpose(-1, -2).contiguous().transpose(-1, -2); });
}

TEST(AttendLayout, every_second_entry_of_a_row) {
  check_layout("every second entry",
               [](const at::Tensor& t) { return t.repeat_interleave(2, -1).slice(-1, 0, {}, 2); });
}

TEST(AttendLayout, every_second_row) {
  check_layout("every second row",
               [](const at::Tensor& t) { return t.repeat_interleave(2, -2).slice(-2, 0, {}, 2); });
}

TEST(AttendLayout, a_corner_of_something_larger) {
  check_layout("corner", [](const at::Tensor& t) {
    auto larger = at::constant_pad_nd(t, {1, 2, 3, 1}, std::numeric_limits<float>::quiet_NaN());
    return larger.narrow(-1, 1, t.size(-1)).narrow(-2, 3, t.size(-2));
  });
}

TEST(AttendLayout, heads_split_from_a_width) {
  check_layout("split heads",
               [](const at::Tensor& t) { return t.transpose(-2, -3).contiguous().transpose(-2, -3); });
}

TEST(AttendLayout, the_same_for_every_head) {
  check_layout("expanded heads", [](const at::Tensor& t) { return t.narrow(-3, 0, 1).expand(t.sizes()); });
}

TEST(AttendLayout, the_same_for_every_sample_or_head) {
  check_layout("expanded first", [](const at::Tensor& t) { return t.narrow(0, 0, 1).expand(t.sizes()); });
}

TEST(AttendLayout, the_same_for_every_row) {
  check_layout("expanded rows", [](const at::Tensor& t) { return t.narrow(-2, 0, 1).expand(t.sizes()); });
}

TEST(AttendLayout, the_same_in_every_row_and_entry) {
  check_layout("expanded entries", [](const at::Tensor& t) { return t.narrow(-1, 0, 1).expand(t.sizes()); });
  check_layout("one number", [](const at::Tensor& t) { return at::full({1}, 0.5f).expand(t.sizes()); });
}

TEST(AttendLayout, overlapping_windows) {
  check_layout("overlapping", [](const at::Tensor& t) {
    // Row r begins one entry after row r - 1: both strides are 1.
    const auto line = noise({t.size(-2) + t.size(-1)}, 6);
    std::vector<int64_t> strides(t.dim(), 0);
    strides[t.dim() - 1] = strides[t.dim() - 2] = 1;
    return line.as_strided(t.sizes(), strides);
  });
}

TEST(AttendLayout, one_row_one_column_one_feature) {
  for (const Sizes& sizes : {Sizes{2, 2, 1, 1, 1}, Sizes{2, 1, 5, 5, 1}, Sizes{1, 1, 1, 1, 6}}) {
    check_layout(
        "transposed", [](const at::Tensor& t) { return t.transpose(-1, -2).contiguous().transpose(-1, -2); },
        sizes);
    check_layout(
        "sliced", [](const at::Tensor& t) { return t.repeat_interleave(2, -1).slice(-1, 0, {}, 2); }, sizes);
  }
}

TEST(AttendLayout, of_the_incoming_gradient) {
  for (int parts : kLaidOutKinds) {
    for (int64_t n : {5, 50}) {
      Inputs inputs = make_inputs(parts, {3, 2, n, n, 4});
      const auto full = noise(run(inputs).result.sizes(), 78);
      const std::pair<const char*, at::Tensor> layouts[] = {
          {"transposed", full.transpose(2, 3).contiguous().transpose(2, 3)},
          {"by heads", full.transpose(1, 2).contiguous().transpose(1, 2)},
          {"the same for every row", full.narrow(2, 0, 1).expand(full.sizes())},
          {"the same for every sample", full.narrow(0, 0, 1).expand(full.sizes())},
          {"the same in every entry", full.narrow(3, 0, 1).expand(full.sizes())},
          {"one number", at::ones({1}).expand(full.sizes())},
      };
      for (const auto& [name, grad] : layouts) {
        expect_close(run(inputs, {}, grad), run(inputs, {}, grad.contiguous()), 5e-6,
                     parts_name(parts) + ", gradient " + name);
      }
    }
  }
}

TEST(AttendLayout, of_the_result_joins_heads_without_a_copy) {
  for (int parts : kLaidOutKinds) {
    for (auto dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
      Inputs inputs = make_inputs(parts, {3, 2, 5, 5, 4}).to(dtype);
      inputs.mask.causal = true;
      EXPECT_TRUE(run(inputs).result.transpose(1, 2).is_contiguous()) << parts_name(parts);
    }
  }
}

TEST(AttendLayout, of_lengths_may_be_a_slice) {
  Inputs inputs = make_inputs(query_key | table, {3, 2, 9, 9, 4}), sliced = inputs;
  inputs.mask = {false, lengths_of({9, 2, 5}), lengths_of({9, 2, 5})};
  const auto every_second = lengths_of({9, 0, 2, 0, 5, 0}).slice(0, 0, {}, 2);
  sliced.mask = {false, every_second, every_second};
  for (auto dtype : {at::kFloat, at::kDouble})
    expect_same_bits(run(sliced.to(dtype)), run(inputs.to(dtype)), "lengths");
}

}  // namespace
}  // namespace synthesizer::testing
