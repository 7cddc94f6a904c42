#include "picture/canvas.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "base/error.h"

namespace synthesizer::picture {
namespace {

constexpr double kPixelsAPoint = 2;

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("a picture could not be drawn: {}", cairo_status_to_string(status)));
}

void choose_font(cairo_t* cairo, const TextStyle& style) {
  cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, style.size);
}

double advance(cairo_t* cairo, const std::string& text, const TextStyle& style) {
  choose_font(cairo, style);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, text.c_str(), &extents);
  return extents.x_advance;
}

}  // namespace

Format format_of(const std::string& name) {
  if (name == "png") return Format::png;
  if (name == "svg") return Format::svg;
  invalid(fmt::format("--format is '{}': pictures are png or svg", name));
}

const char* ending(Format format) {
  return format == Format::png ? ".png" : ".svg";
}

struct Canvas::Drawing {
  std::string bytes;
  Format format;
  cairo_surface_t* surface;
  cairo_t* cairo;

  void colour(const Colour& c) const { cairo_set_source_rgb(cairo, c.red, c.green, c.blue); }
};

Canvas::Canvas(double width, double height, Format format) : drawing_(std::make_unique<Drawing>()) {
  Drawing& d = *drawing_;
  d.format = format;
  d.surface =
      format == Format::png
          ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(width * kPixelsAPoint)),
                                       static_cast<int>(std::ceil(height * kPixelsAPoint)))
          : cairo_svg_surface_create_for_stream(append, &d.bytes, width, height);
  d.cairo = cairo_create(d.surface);
  if (format == Format::png) cairo_scale(d.cairo, kPixelsAPoint, kPixelsAPoint);
  d.colour(kPaper);
  cairo_paint(d.cairo);
  check(cairo_status(d.cairo));
}

Canvas::~Canvas() {
  cairo_destroy(drawing_->cairo);
  cairo_surface_destroy(drawing_->surface);
}

void Canvas::fill(const Box& box, const Colour& colour) {
  cairo_set_antialias(drawing_->cairo, CAIRO_ANTIALIAS_NONE);
  drawing_->colour(colour);
  cairo_rectangle(drawing_->cairo, box.x, box.y, box.width, box.height);
  cairo_fill(drawing_->cairo);
  cairo_set_antialias(drawing_->cairo, CAIRO_ANTIALIAS_DEFAULT);
}

void Canvas::outline(const Box& box, const Colour& colour) {
  drawing_->colour(colour);
  cairo_set_line_width(drawing_->cairo, 0.7);
  cairo_rectangle(drawing_->cairo, box.x, box.y, box.width, box.height);
  cairo_stroke(drawing_->cairo);
}

void Canvas::line(const std::vector<Point>& points, const Colour& colour, double width) {
  if (points.empty()) return;
  drawing_->colour(colour);
  cairo_set_line_width(drawing_->cairo, width);
  cairo_set_line_join(drawing_->cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_move_to(drawing_->cairo, points.front().x, points.front().y);
  for (size_t i = 1; i < points.size(); ++i) cairo_line_to(drawing_->cairo, points[i].x, points[i].y);
  cairo_stroke(drawing_->cairo);
}

void Canvas::text(const Point& at, const std::string& text, const TextStyle& style) {
  cairo_t* cairo = drawing_->cairo;
  const double width = advance(cairo, text, style);
  const double shift = style.anchor == Anchor::left ? 0 : style.anchor == Anchor::middle ? width / 2 : width;
  drawing_->colour(style.colour);
  cairo_save(cairo);
  cairo_translate(cairo, at.x, at.y);
  if (style.upright) cairo_rotate(cairo, -M_PI / 2);
  cairo_move_to(cairo, -shift, 0);
  cairo_show_text(cairo, text.c_str());
  cairo_restore(cairo);
}

double Canvas::text_width(const std::string& text, const TextStyle& style) const {
  return advance(drawing_->cairo, text, style);
}

std::string Canvas::finish() {
  Drawing& d = *drawing_;
  check(cairo_status(d.cairo));
  if (d.format == Format::png) {
    check(cairo_surface_write_to_png_stream(d.surface, append, &d.bytes));
  } else {
    cairo_surface_finish(d.surface);
    check(cairo_surface_status(d.surface));
  }
  return std::move(d.bytes);
}

double text_width(const std::string& text, const TextStyle& style) {
  static const Canvas measure(1, 1, Format::png);
  return measure.text_width(text, style);
}

}  // namespace synthesizer::picture
