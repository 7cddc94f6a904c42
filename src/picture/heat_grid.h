#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "picture/canvas.h"

namespace synthesizer::picture {

/// A matrix to be shown in colours, a value per cell.
struct Heat {
  std::string title;  ///< "head 1"
  int64_t rows = 0, columns = 0;
  std::vector<double> values;  ///< row after row; NaN leaves a cell blank
};

/// Matrices side by side under one scale of colours. Rows go down, columns to the right.
struct HeatGrid {
  std::string title, subtitle;
  std::vector<Heat> panels;
  size_t across = 4;                                   ///< panels per row
  std::vector<std::string> row_labels, column_labels;  ///< one per row and per column; empty: their numbers
  std::string row_name, column_name;                   ///< "queries", "keys"
  std::string scale_name;                              ///< beside the bar of colours: "weight"
  bool signed_values = false;                          ///< colours on both sides of zero; otherwise from 0 on
  double low = 0, high = 1;                            ///< ends of the scale
};

/// The contents of the picture's file.
std::string draw(const HeatGrid& grid, Format format);

}  // namespace synthesizer::picture
