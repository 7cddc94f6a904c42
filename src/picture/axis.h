#pragma once

#include <string>
#include <utility>
#include <vector>

namespace synthesizer::picture {

/// One direction of a chart: from values to places, and where the marks stand.
class Axis {
 public:
  /// `low` and `high` become the ends; logarithmic: both must be above 0.
  Axis(double low, double high, bool logarithmic);

  double share(double value) const;  ///< 0 at the low end, 1 at the high end
  /// Values at round numbers within the ends, about `wanted` of them, with their texts.
  std::vector<std::pair<double, std::string>> marks(int wanted) const;

 private:
  double low_, high_;
  bool logarithmic_;
};

/// A number as briefly as it can be read: "0.25", "1500", "1e-05".
std::string brief(double value);

}  // namespace synthesizer::picture
