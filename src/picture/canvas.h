#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "picture/colour.h"

namespace synthesizer::picture {

enum class Format { png, svg };
/// "png" or "svg"; anything else is an error of whoever asked.
Format format_of(const std::string& name);
const char* ending(Format format);  ///< ".png"

struct Point {
  double x, y;
};
struct Box {
  double x, y, width, height;
};

enum class Anchor { left, middle, right };
struct TextStyle {
  double size = 11;
  Anchor anchor = Anchor::left;
  Colour colour = kInk;
  bool bold = false;
  bool upright = false;  ///< turned by a quarter, read from below
};

/// A picture in the making, in points from the upper left corner; x to the right, y downwards. The same calls
/// make a PNG (two pixels a point) or an SVG.
class Canvas {
 public:
  Canvas(double width, double height, Format format);
  ~Canvas();

  void fill(const Box& box, const Colour& colour);  ///< with sharp edges
  void outline(const Box& box, const Colour& colour);
  void line(const std::vector<Point>& points, const Colour& colour, double width = 1);
  /// `at`: on the base line, at the anchor. The text is UTF-8.
  void text(const Point& at, const std::string& text, const TextStyle& style);
  double text_width(const std::string& text, const TextStyle& style) const;

  /// Ends the picture: the contents of its file.
  std::string finish();

 private:
  struct Drawing;
  std::unique_ptr<Drawing> drawing_;
};

/// How wide a text will be on any canvas.
double text_width(const std::string& text, const TextStyle& style);

}  // namespace synthesizer::picture
