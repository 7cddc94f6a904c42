#include "picture/heat_grid.h"

#include <algorithm>
#include <cmath>

#include "picture/axis.h"
#include "picture/title.h"

namespace synthesizer::picture {
namespace {

constexpr double kPanelGap = 16, kPanelHead = 20, kBar = 76, kPanel = 230;
constexpr TextStyle kHeading{.size = 11, .anchor = Anchor::middle};

/// Where everything goes, from the sizes of the matrices and the lengths of the labels.
class Layout {
 public:
  explicit Layout(const HeatGrid& grid) : grid_(grid) {
    int64_t rows = 1, columns = 1;
    for (const Heat& heat : grid.panels) {
      rows = std::max(rows, heat.rows);
      columns = std::max(columns, heat.columns);
    }
    cell_ = std::clamp(kPanel / static_cast<double>(std::max(rows, columns)), 1.5, 26.0);
    label_.size = std::clamp(cell_ * 0.8, 6.0, 9.5);
    width_ = cell_ * static_cast<double>(columns);
    height_ = cell_ * static_cast<double>(rows);
    left_ = 16 + widest(grid.row_labels);
    below_ = 18 + widest(grid.column_labels);
  }

  double cell() const { return cell_; }
  const TextStyle& label() const { return label_; }
  size_t across() const { return std::min(grid_.across, std::max<size_t>(grid_.panels.size(), 1)); }
  size_t down() const { return (grid_.panels.size() + across() - 1) / across(); }
  double picture_width() const {
    const auto n = static_cast<double>(across());
    return 2 * kMargin + left_ + n * width_ + (n - 1) * kPanelGap + kBar;
  }
  double picture_height() const {
    return 2 * kMargin + kTitleHeight + static_cast<double>(down()) * (kPanelHead + height_ + below_);
  }
  Box panel(size_t number) const {
    const size_t above = number / across();  // rows of panels
    const auto column = static_cast<double>(number % across()), row = static_cast<double>(above);
    return {kMargin + left_ + column * (width_ + kPanelGap),
            kMargin + kTitleHeight + kPanelHead + row * (kPanelHead + height_ + below_), width_, height_};
  }
  double left() const { return left_; }
  double below() const { return below_; }

 private:
  /// Room for labels; numbers need little.
  double widest(const std::vector<std::string>& labels) const {
    double widest = 18;
    for (const std::string& label : labels) widest = std::max(widest, text_width(label, label_) + 4);
    return widest;
  }

  const HeatGrid& grid_;
  TextStyle label_;
  double cell_, width_, height_, left_, below_;
};

Colour colour_of(const HeatGrid& grid, double value) {
  if (!std::isfinite(value)) return kBlank;
  const double share = (value - grid.low) / (grid.high - grid.low);
  return grid.signed_values ? diverging(share) : viridis(share);
}

void draw_cells(Canvas& canvas, const HeatGrid& grid, const Heat& heat, const Box& box, double cell) {
  size_t n = 0;
  for (int64_t i = 0; i < heat.rows; ++i) {
    for (int64_t j = 0; j < heat.columns; ++j, ++n) {
      canvas.fill({box.x + cell * static_cast<double>(j), box.y + cell * static_cast<double>(i), cell, cell},
                  colour_of(grid, heat.values[n]));
    }
  }
  canvas.outline(box, kFaint);
}

/// Labels of one direction: each cell's own where there are any and they fit, every so many numbers
/// otherwise.
template <typename Put>
void draw_labels(const std::vector<std::string>& labels, int64_t count, double cell, Put put) {
  if (!labels.empty()) {
    for (int64_t n = 0; n < count; ++n) put(static_cast<double>(n) + 0.5, labels[static_cast<size_t>(n)]);
    return;
  }
  for (const auto& [value, text] :
       Axis(0, static_cast<double>(count), false).marks(count * cell > 120 ? 5 : 3)) {
    if (value < static_cast<double>(count)) put(value + 0.5, text);
  }
}

void draw_bar(Canvas& canvas, const HeatGrid& grid, const Box& first, double right) {
  constexpr int kSteps = 64;
  const Box bar{right - kBar + 22, first.y, 12, std::clamp(first.height, 60.0, 180.0)};
  for (int n = 0; n < kSteps; ++n) {
    const double share = (n + 0.5) / kSteps;
    canvas.fill({bar.x, bar.y + bar.height * (kSteps - 1 - n) / kSteps, bar.width, bar.height / kSteps + 0.5},
                colour_of(grid, grid.low + share * (grid.high - grid.low)));
  }
  canvas.outline(bar, kFaint);
  const Axis axis(grid.low, grid.high, false);
  for (const auto& [value, text] : axis.marks(4)) {
    const double y = bar.y + bar.height * (1 - axis.share(value));
    canvas.line({{bar.x + bar.width, y}, {bar.x + bar.width + 3, y}}, kFaint);
    canvas.text({bar.x + bar.width + 5, y + 3}, text, {.size = 9});
  }
  canvas.text({bar.x + bar.width / 2, bar.y - 7}, grid.scale_name, kAxisName);
}

}  // namespace

std::string draw(const HeatGrid& grid, Format format) {
  const Layout layout(grid);
  const double least = title_width(grid.title, grid.subtitle);
  Canvas canvas(std::max(layout.picture_width(), least), layout.picture_height(), format);
  draw_title(canvas, grid.title, grid.subtitle);
  TextStyle side = layout.label(), under = layout.label();
  side.anchor = Anchor::right;
  under.anchor = grid.column_labels.empty() ? Anchor::middle : Anchor::right;
  under.upright = !grid.column_labels.empty();
  for (size_t n = 0; n < grid.panels.size(); ++n) {
    const Heat& heat = grid.panels[n];
    const Box box = layout.panel(n);
    const double cell = layout.cell();
    draw_cells(canvas, grid, heat, box, cell);
    canvas.text({box.x + box.width / 2, box.y - 6}, heat.title, kHeading);
    const double bottom = box.y + box.height;
    draw_labels(grid.column_labels, heat.columns, cell, [&](double at, const std::string& text) {
      const double x = box.x + at * cell;
      canvas.text({under.upright ? x + under.size * 0.35 : x, bottom + (under.upright ? 4 : 11)}, text,
                  under);
    });
    canvas.text({box.x + box.width / 2, bottom + layout.below() - 6}, grid.column_name, kAxisName);
    if (n % layout.across() != 0) continue;  // rows are the same for all beside each other
    draw_labels(grid.row_labels, heat.rows, cell, [&](double at, const std::string& text) {
      canvas.text({box.x - 4, box.y + at * cell + side.size * 0.35}, text, side);
    });
    TextStyle upright = kAxisName;
    upright.upright = true;
    canvas.text({box.x - layout.left() + 9, box.y + box.height / 2}, grid.row_name, upright);
  }
  if (!grid.panels.empty()) draw_bar(canvas, grid, layout.panel(0), layout.picture_width());
  return canvas.finish();
}

}  // namespace synthesizer::picture
