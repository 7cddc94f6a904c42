#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/spectrum.h"

namespace torch::nn {
class Module;
}

namespace synthesizer {

/// One head of a table.
struct TableHead {
  Spectrum spectrum;
  /// ‖end - start‖ / ‖start‖ (Frobenius); none where the start is unknown or 0.
  std::optional<double> moved;
  /// How far an entry moved: root mean square of end - start over the entries that count, in logits; none
  /// where the start is unknown.
  std::optional<double> change;
  std::vector<float> start, end;  ///< the corner that is shown, row after row; no start where it is unknown
};

/// The logits of a member that depends on no token (R, Fix, FR as its product). Entries above the diagonal of
/// a causal layer count as 0 in the numbers.
struct RandomTable {
  std::string layer;   ///< "encoder.layers.0"
  std::string member;  ///< "R"
  bool causal = false;
  int64_t length = 0;  ///< N
  int64_t shown = 0;   ///< rows and columns of the corner that is kept to look at
  std::vector<TableHead> heads;
};

/// All tables of a model; `start`: the same model as training began with it, or null.
std::vector<RandomTable> random_tables(torch::nn::Module& model, torch::nn::Module* start, int64_t shown);

}  // namespace synthesizer
