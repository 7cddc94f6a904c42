#pragma once

#include <string>
#include <vector>

#include "picture/canvas.h"

namespace synthesizer::picture {

/// A line through points; those that are not finite, or below what a logarithmic axis has, are left out.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

/// One pair of axes.
struct Chart {
  std::string title;
  std::string x_name, y_name;
  std::vector<Series> series;
};

/// Charts side by side with the same kind of axes and one legend: a colour is the series of that number in
/// all of them.
struct LineCharts {
  std::string title, subtitle;
  std::vector<Chart> charts;
  size_t across = 3;
  bool x_logarithmic = false, y_logarithmic = false;
  bool y_from_zero = false;
  bool same_y = true;  ///< one range for all
};

/// The contents of the picture's file.
std::string draw(const LineCharts& charts, Format format);

}  // namespace synthesizer::picture
