#include "picture/line_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "picture/axis.h"
#include "picture/title.h"

namespace synthesizer::picture {
namespace {

constexpr double kWidth = 270, kHeight = 180, kLeft = 50, kBelow = 40, kChartHead = 22, kChartGap = 14,
                 kLegendLine = 15;
constexpr TextStyle kMark{.size = 9, .anchor = Anchor::middle};

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class Drawer {
 public:
  Drawer(const LineCharts& charts, Format format)
      : charts_(charts),
        across_(std::min(charts.across, std::max<size_t>(charts.charts.size(), 1))),
        names_(legend(charts)),
        canvas_(width(), height(), format) {}

  std::string draw() {
    draw_title(canvas_, charts_.title, charts_.subtitle);
    for (size_t n = 0; n < charts_.charts.size(); ++n) {
      const size_t above = n / across_;  // rows of charts
      const double column = static_cast<double>(n % across_), row = static_cast<double>(above);
      draw_chart(
          charts_.charts[n],
          {kMargin + kLeft + column * (kLeft + kWidth + kChartGap),
           kMargin + kTitleHeight + kChartHead + row * (kChartHead + kHeight + kBelow), kWidth, kHeight});
    }
    draw_legend();
    return canvas_.finish();
  }

 private:
  static std::vector<std::string> legend(const LineCharts& charts) {
    std::vector<std::string> names;
    for (const Chart& chart : charts.charts) {
      for (const Series& series : chart.series) {
        if (std::find(names.begin(), names.end(), series.name) == names.end()) names.push_back(series.name);
      }
    }
    return names;
  }
  size_t colour_number(const std::string& name) const {
    return static_cast<size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }

  double legend_width() const {
    double widest = 0;
    for (const std::string& name : names_) widest = std::max(widest, text_width(name, {.size = 10}));
    return names_.size() > 1 ? widest + 34 : 0;
  }
  double width() const {
    const auto n = static_cast<double>(across_);
    const double least = title_width(charts_.title, charts_.subtitle);
    return std::max(least, 2 * kMargin + n * (kLeft + kWidth) + (n - 1) * kChartGap + legend_width());
  }
  double height() const {
    const size_t down = (charts_.charts.size() + across_ - 1) / across_;
    const double drawn = static_cast<double>(down) * (kChartHead + kHeight + kBelow);
    return 2 * kMargin + kTitleHeight +
           std::max(drawn, static_cast<double>(names_.size()) * kLegendLine + kChartHead);
  }

  bool shown(double x, double y) const {
    return std::isfinite(x) && std::isfinite(y) && (!charts_.x_logarithmic || x > 0) &&
           (!charts_.y_logarithmic || y > 0);
  }

  /// Over this chart's values, or over all of them.
  std::pair<Range, Range> ranges(const Chart& own) const {
    Range x, y;
    for (const Chart& chart : charts_.charts) {
      for (const Series& series : chart.series) {
        for (size_t n = 0; n < series.x.size(); ++n) {
          if (!shown(series.x[n], series.y[n])) continue;
          x.take(series.x[n]);
          if (charts_.same_y || &chart == &own) y.take(series.y[n]);
        }
      }
    }
    if (!(x.low <= x.high)) x = {charts_.x_logarithmic ? 0.1 : 0, 1};
    if (!(y.low <= y.high)) y = {charts_.y_logarithmic ? 0.1 : 0, 1};
    if (charts_.y_from_zero && !charts_.y_logarithmic) y.low = std::min(0.0, y.low);
    const double slack = charts_.y_logarithmic ? 0 : (y.high - y.low) * 0.05;
    return {x, {charts_.y_from_zero ? y.low : y.low - slack, y.high + slack}};
  }

  void draw_chart(const Chart& chart, const Box& box) {
    const auto [x_range, y_range] = ranges(chart);
    const Axis x(x_range.low, x_range.high, charts_.x_logarithmic);
    const Axis y(y_range.low, y_range.high, charts_.y_logarithmic);
    const double bottom = box.y + box.height;
    auto across = [&](double value) { return box.x + box.width * x.share(value); };
    auto up = [&](double value) { return bottom - box.height * y.share(value); };
    for (const auto& [value, text] : x.marks(5)) {
      canvas_.line({{across(value), box.y}, {across(value), bottom}}, kGrid, 0.7);
      canvas_.text({across(value), bottom + 13}, text, kMark);
    }
    for (const auto& [value, text] : y.marks(5)) {
      canvas_.line({{box.x, up(value)}, {box.x + box.width, up(value)}}, kGrid, 0.7);
      canvas_.text({box.x - 5, up(value) + 3}, text, {.size = 9, .anchor = Anchor::right});
    }
    canvas_.outline(box, kFaint);
    for (const Series& series : chart.series) {
      std::vector<Point> points;
      for (size_t n = 0; n < series.x.size(); ++n) {
        if (shown(series.x[n], series.y[n])) points.push_back({across(series.x[n]), up(series.y[n])});
      }
      canvas_.line(points, series_colour(colour_number(series.name)), 1.6);
    }
    canvas_.text({box.x + box.width / 2, box.y - 7}, chart.title, {.size = 11, .anchor = Anchor::middle});
    canvas_.text({box.x + box.width / 2, bottom + 28}, chart.x_name, kAxisName);
    TextStyle upright = kAxisName;
    upright.upright = true;
    canvas_.text({box.x - kLeft + 12, box.y + box.height / 2}, chart.y_name, upright);
  }

  void draw_legend() {
    if (names_.size() < 2) return;
    const double left =
                     kMargin + static_cast<double>(across_) * (kLeft + kWidth + kChartGap) - kChartGap + 12,
                 top = kMargin + kTitleHeight + kChartHead;
    for (size_t n = 0; n < names_.size(); ++n) {
      const double y = top + 8 + static_cast<double>(n) * kLegendLine;
      canvas_.line({{left, y - 3}, {left + 16, y - 3}}, series_colour(n), 2);
      canvas_.text({left + 21, y}, names_[n], {.size = 10});
    }
  }

  const LineCharts& charts_;
  size_t across_;
  std::vector<std::string> names_;
  Canvas canvas_;
};

}  // namespace

std::string draw(const LineCharts& charts, Format format) {
  return Drawer(charts, format).draw();
}

}  // namespace synthesizer::picture
