#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inspect/pictures.h"
#include "picture/line_chart.h"

namespace synthesizer {
namespace {

using picture::Chart;
using picture::LineCharts;
using picture::Series;

/// As the paper's figure has them: how large the weights of each layer are, in encoder and decoder.
LineCharts histograms(const Inspection& found, bool start) {
  LineCharts charts;
  charts.title =
      start ? "How large attention weights were before training" : "How large attention weights are";
  charts.subtitle = fmt::format(
      "{}; share of each layer's weights by their size over {} {}, those below 1e-5 at the left end",
      found.attention, found.texts, found.texts == 1 ? "text" : "texts");
  charts.x_logarithmic = true;
  charts.y_from_zero = true;
  const auto edges = WeightHistogram::edges();
  for (const AttentionPlace stack :
       {AttentionPlace::encoder, AttentionPlace::decoder, AttentionPlace::cross}) {
    Chart chart{choice_name(stack), "weight", "share of weights", {}};
    for (const InspectedLayer& layer : found.layers) {
      if (layer.captured.stack != stack || (start && !layer.start)) continue;
      const WeightHistogram& histogram = start ? *layer.start : layer.histogram;
      Series series{fmt::format("layer {}", layer.captured.number + 1), {}, {}};
      const auto total = static_cast<double>(std::max<int64_t>(histogram.total(), 1));
      for (size_t n = 0; n < WeightHistogram::kBins; ++n) {
        series.x.push_back(std::sqrt(edges[n] * edges[n + 1]));
        series.y.push_back(static_cast<double>(histogram.counts[n]) / total);
      }
      chart.series.push_back(std::move(series));
    }
    if (!chart.series.empty()) charts.charts.push_back(std::move(chart));
  }
  return charts;
}

LineCharts singular_values(const Inspection& found) {
  LineCharts charts;
  charts.title = "Singular values of the tables";
  charts.subtitle = "each as a share of the largest; behind the name the mean effective rank of the heads";
  charts.y_logarithmic = true;
  for (const RandomTable& table : found.tables) {
    double mean = 0;
    Chart chart{"", "number", "share of the largest", {}};
    for (size_t h = 0; h < table.heads.size(); ++h) {
      const auto& values = table.heads[h].spectrum.values;
      mean += table.heads[h].spectrum.effective_rank() / static_cast<double>(table.heads.size());
      Series series{fmt::format("head {}", h + 1), {}, {}};
      for (size_t n = 0; n < values.size(); ++n) {
        if (values[n] < 1e-4 * values[0]) break;  // rounding, or nothing at all
        series.x.push_back(static_cast<double>(n + 1));
        series.y.push_back(values[n] / values[0]);
      }
      chart.series.push_back(std::move(series));
    }
    chart.title = fmt::format("{} {} · {:.0f} of {}", table.layer, table.member, mean, table.length);
    charts.charts.push_back(std::move(chart));
  }
  return charts;
}

/// One chart a layer; heads with weights of their own as their mean.
LineCharts mixtures(const Inspection& found) {
  LineCharts charts;
  charts.title = "Mixture weights over training";
  charts.subtitle = fmt::format("{}; how much each member counts", found.attention);
  charts.y_from_zero = true;
  for (size_t n = 0; n < found.mixtures.size(); ++n) {
    const std::string& layer = found.mixtures[n].layer;
    Chart chart{layer, "step", "weight", {}};
    for (size_t m = 0; m < found.mixture_members[n].size(); ++m) {
      Series series{
          found.mixture_members[n][m], {0}, {1 / static_cast<double>(found.mixture_members[n].size())}};
      for (const MixtureAt& at : found.mixtures_over_training) {
        if (at.layer != layer) continue;
        double mean = 0;
        for (const auto& row : at.shares) mean += row[m] / static_cast<double>(at.shares.size());
        series.x.push_back(static_cast<double>(at.step));
        series.y.push_back(mean);
      }
      chart.series.push_back(std::move(series));
    }
    charts.charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace

std::vector<NamedPicture> number_pictures(const Inspection& found) {
  auto drawn = [](LineCharts charts) {
    return [charts = std::move(charts)](picture::Format format) { return draw(charts, format); };
  };
  std::vector<NamedPicture> pictures;
  if (!found.layers.empty()) pictures.push_back({"histograms", drawn(histograms(found, false))});
  if (!found.layers.empty() && found.start_known)
    pictures.push_back({"histograms-start", drawn(histograms(found, true))});
  if (!found.tables.empty()) pictures.push_back({"singular-values", drawn(singular_values(found))});
  if (!found.mixtures_over_training.empty()) pictures.push_back({"mixtures", drawn(mixtures(found))});
  return pictures;
}

}  // namespace synthesizer
