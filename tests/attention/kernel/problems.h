#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attention/kernel/attend.h"

// Problems for the operator, made of any parts of the logits, and what comes of them.
namespace synthesizer::testing {

enum Part : int {
  query_key = 1,
  row_column = 2,
  table = 4,
  one_row_table = 8,
  outer = 16,
  tiled_outer = 32,
  shared_row = 64,    ///< row and column, neither from a sample
  table_scale = 128,  ///< one per head, of the table
  one_scale = 256,    ///< one for all heads
};

/// Each way the logits are made alone, and all together.
inline constexpr int kKinds[] = {query_key,
                                 row_column,
                                 table,
                                 outer,
                                 shared_row,
                                 shared_row | table | table_scale,
                                 query_key | row_column | table | outer,
                                 query_key | shared_row | table | table_scale};

/// "query_key+table" for messages and names.
std::string parts_name(int parts);

struct Sizes {
  int64_t batch = 2, heads = 2, rows = 7, columns = 7, width = 4;
};

struct Inputs {
  Logits logits;
  Mask mask;
  at::Tensor value;

  /// The differentiable ones that are there.
  std::vector<std::pair<std::string, at::Tensor*>> tensors();
  Inputs to(at::ScalarType dtype) const;
};

/// Random numbers for the parts; no mask.
Inputs make_inputs(int parts, const Sizes& sizes, uint64_t seed = 1);

struct Outcome {
  at::Tensor result;
  std::vector<std::pair<std::string, at::Tensor>> gradients;  ///< in the order of tensors()
};

/// Forward, and backward from `grad` (random numbers where it is undefined).
Outcome run(Inputs inputs, const Dropout& dropout = {}, at::Tensor grad = {});

/// Result and gradients alike, within the tolerance (see close in layers.h); `what` begins every message.
void expect_close(const Outcome& actual, const Outcome& expected, double tolerance, const std::string& what);
void expect_same_bits(const Outcome& actual, const Outcome& expected, const std::string& what);

/// float32 on the block code against float64 on the plain path.
void expect_block_code_equals_plain(const Inputs& inputs, const Dropout& dropout, const std::string& what,
                                    double tolerance = 2e-5);

at::Tensor lengths_of(std::initializer_list<int64_t> lengths);

}  // namespace synthesizer::testing
