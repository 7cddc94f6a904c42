#include "attention/kernel/problems.h"

#include "attention/layers.h"

namespace synthesizer::testing {

std::string parts_name(int parts) {
  std::string name;
  const char* names[] = {"query_key",   "row_column", "table",       "one_row_table", "outer",
                         "tiled_outer", "shared_row", "table_scale", "one_scale"};
  for (int i = 0; i < 9; ++i) {
    if (parts & (1 << i)) name += (name.empty() ? "" : "_and_") + std::string(names[i]);
  }
  return name.empty() ? "nothing" : name;
}

std::vector<std::pair<std::string, at::Tensor*>> Inputs::tensors() {
  std::vector<std::pair<std::string, at::Tensor*>> all;
  for (auto& [name, tensor] :
       std::initializer_list<std::pair<std::string, at::Tensor*>>{{"query", &logits.query},
                                                                  {"key", &logits.key},
                                                                  {"row", &logits.row},
                                                                  {"column", &logits.column},
                                                                  {"table", &logits.table},
                                                                  {"left", &logits.left},
                                                                  {"right", &logits.right},
                                                                  {"table_scale", &logits.table_scale},
                                                                  {"value", &value}}) {
    if (tensor->defined()) all.emplace_back(name, tensor);
  }
  return all;
}

Inputs Inputs::to(at::ScalarType dtype) const {
  Inputs other = *this;
  for (auto& [name, tensor] : other.tensors()) *tensor = tensor->to(dtype);
  return other;
}

Inputs make_inputs(int parts, const Sizes& s, uint64_t seed) {
  Inputs in;
  auto random = [&](at::IntArrayRef shape) { return noise(shape, 100 * ++seed); };
  const int64_t features = 3, more_features = 5;
  if (parts & query_key) {
    in.logits.query = random({s.batch, s.heads, s.rows, features});
    in.logits.key = random({s.batch, s.heads, s.columns, features});
    in.logits.scale = 0.7;
  }
  if (parts & row_column) {
    in.logits.row = random({s.batch, s.heads, s.rows, more_features}) * 0.6;
    in.logits.column = random({s.heads, s.columns, more_features});
  }
  if (parts & shared_row) {
    in.logits.row = random({s.heads, s.rows, more_features}) * 0.6;
    in.logits.column = random({s.heads, s.columns, more_features});
  }
  if (parts & table) in.logits.table = random({s.heads, s.rows, s.columns});
  if (parts & one_row_table) in.logits.table = random({s.heads, 1, s.columns});
  if (parts & table_scale) in.logits.table_scale = random({s.heads});
  if (parts & one_scale) in.logits.table_scale = random({1});
  if (parts & (outer | tiled_outer)) {
    // Sizes that divide neither each other nor a vector's lanes.
    const int64_t a =
        std::max<int64_t>(1, static_cast<int64_t>(std::sqrt(static_cast<double>(s.columns))) | 1);
    in.logits.left = random({s.batch, s.heads, s.rows, a});
    in.logits.right = random({s.batch, s.heads, s.rows, (s.columns + a - 1) / a + 1});
    in.logits.tile = parts & tiled_outer;
  }
  if (in.logits.global() && !in.logits.row.defined()) in.logits.rows = s.rows;
  in.value = random({s.batch, s.heads, s.columns, s.width});
  return in;
}

Outcome run(Inputs inputs, const Dropout& dropout, at::Tensor grad) {
  for (auto& [name, tensor] : inputs.tensors()) *tensor = tensor->detach().requires_grad_();
  Outcome outcome;
  outcome.result = attend(inputs.logits, inputs.mask, inputs.value, dropout);
  if (!grad.defined()) grad = noise(outcome.result.sizes(), 77);
  outcome.result.backward(grad.to(outcome.result.scalar_type()));
  for (auto& [name, tensor] : inputs.tensors()) outcome.gradients.emplace_back(name, tensor->grad());
  outcome.result = outcome.result.detach();
  return outcome;
}

void expect_close(const Outcome& actual, const Outcome& expected, double tolerance, const std::string& what) {
  EXPECT_TRUE(close(actual.result, expected.result, tolerance, 1)) << what;
  ASSERT_EQ(actual.gradients.size(), expected.gradients.size()) << what;
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    EXPECT_TRUE(close(actual.gradients[i].second, expected.gradients[i].second, tolerance, 1))
        << what << ", gradient of " << expected.gradients[i].first;
  }
}

void expect_same_bits(const Outcome& actual, const Outcome& expected, const std::string& what) {
  EXPECT_TRUE(same_bits(actual.result, expected.result)) << what;
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    EXPECT_TRUE(same_bits(actual.gradients[i].second, expected.gradients[i].second))
        << what << ", gradient of " << expected.gradients[i].first;
  }
}

void expect_block_code_equals_plain(const Inputs& inputs, const Dropout& dropout, const std::string& what,
                                    double tolerance) {
  expect_close(run(inputs, dropout), run(inputs.to(at::kDouble), dropout), tolerance, what);
}

at::Tensor lengths_of(std::initializer_list<int64_t> lengths) {
  return at::tensor(at::ArrayRef<int64_t>(lengths.begin(), lengths.size()), at::kLong);
}

}  // namespace synthesizer::testing
