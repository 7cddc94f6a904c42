#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "inspect/pictures.h"
#include "picture/heat_grid.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

using picture::HeatGrid;

constexpr size_t kLabelled = 48;  // with more tokens there is no room for their texts
constexpr size_t kLabelCharacters = 14;

/// SentencePiece marks where words begin. People rather see where they go on: "▁clean", "ing" as "clean",
/// "-ing".
std::string readable(const std::string& token, bool marked) {
  constexpr std::string_view kMark = "▁";
  if (token.starts_with(kMark) && token.size() > kMark.size()) return token.substr(kMark.size());
  const bool letter = !token.empty() && (std::isalnum(static_cast<unsigned char>(token[0])) || token[0] < 0);
  return marked && letter ? "-" + token : token;
}

std::vector<std::string> labels_of(const std::vector<std::string>& tokens) {
  std::vector<std::string> labels;
  if (tokens.size() > kLabelled) return labels;
  const bool marked =
      std::any_of(tokens.begin(), tokens.end(), [](const auto& t) { return t.starts_with("▁"); });
  for (const std::string& token : tokens) {
    const std::string shown = readable(token, marked);
    const auto characters = split_characters(shown);
    std::string label;
    for (size_t n = 0; n < std::min(characters.size(), kLabelCharacters); ++n) label += characters[n];
    labels.push_back(characters.size() > kLabelCharacters ? label + "…" : label);
  }
  return labels;
}

picture::Heat heat_of(const WeightMap& map, const std::string& title) {
  picture::Heat heat{title, map.rows, map.columns, {}};
  for (int64_t i = 0; i < map.rows; ++i) {
    for (int64_t j = 0; j < map.columns; ++j)
      heat.values.push_back(j < map.visible(i) ? map.at(i, j) : std::numeric_limits<double>::quiet_NaN());
  }
  return heat;
}

/// The value that this share of them does not reach.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * share);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

/// Weights of rows that have a choice; what has none, as the first row of a causal map, would set the scale.
std::vector<double> chosen_weights(const std::vector<WeightMap>& heads) {
  std::vector<double> weights;
  for (const WeightMap& map : heads) {
    for (int64_t i = 0; i < map.rows; ++i) {
      for (int64_t j = 0; map.visible(i) > 1 && j < map.visible(i); ++j) weights.push_back(map.at(i, j));
    }
  }
  return weights;
}

HeatGrid map_grid(const Inspection& found, const InspectedLayer& layer) {
  const CapturedLayer& captured = layer.captured;
  const bool encoder = captured.stack == AttentionPlace::encoder,
             cross = captured.stack == AttentionPlace::cross;
  HeatGrid grid;
  grid.title =
      fmt::format("{}: {}", captured.title(), cross ? "from decoder to encoder" : captured.attention);
  grid.row_labels = labels_of(encoder ? found.encoder_tokens : found.decoder_tokens);
  grid.column_labels = labels_of(encoder || cross ? found.encoder_tokens : found.decoder_tokens);
  grid.row_name = "from";
  grid.column_name = "to";
  grid.scale_name = "weight";
  for (size_t h = 0; h < captured.heads.size(); ++h) {
    grid.panels.push_back(
        heat_of(captured.heads[h], fmt::format("head {} · {:.2f}", h + 1, layer.numbers[h].entropy_share)));
  }
  // In a large map a few weights that stand far out would leave the rest dark.
  const bool large = grid.row_labels.empty() || grid.column_labels.empty();
  const double top = quantile(chosen_weights(captured.heads), large ? 0.995 : 1);
  grid.high = top > 0 ? top : 1;
  grid.subtitle =
      fmt::format("attention weights{}; behind each head the entropy as a share of its highest, over {} {}",
                  large ? ", the brightest colour for all above it" : "", found.texts,
                  found.texts == 1 ? "text" : "texts");
  return grid;
}

HeatGrid table_grid(const RandomTable& table) {
  HeatGrid grid;
  const bool started = !table.heads.front().start.empty();
  grid.title = fmt::format("{}: table of {}", table.layer, table.member);
  grid.subtitle = fmt::format(
      "logits of the first {} of {} positions{}", table.shown, table.length,
      started ? "; at the start of training, now, and the difference with its size as a share of the start"
              : "");
  grid.across = table.heads.size();
  grid.signed_values = true;
  grid.scale_name = "logit";
  grid.row_name = "from position";
  grid.column_name = "to position";
  std::vector<double> sizes;
  auto add = [&](const std::vector<float>& values, const std::string& title) {
    picture::Heat heat{title, table.shown, table.shown, {}};
    for (int64_t i = 0; i < table.shown; ++i) {
      for (int64_t j = 0; j < table.shown; ++j) {
        const bool seen = !table.causal || j <= i;
        const double value = values[static_cast<size_t>(i * table.shown + j)];
        heat.values.push_back(seen ? value : std::numeric_limits<double>::quiet_NaN());
        if (seen) sizes.push_back(std::abs(value));
      }
    }
    grid.panels.push_back(std::move(heat));
  };
  for (size_t h = 0; started && h < table.heads.size(); ++h)
    add(table.heads[h].start, fmt::format("head {}, start", h + 1));
  for (size_t h = 0; h < table.heads.size(); ++h)
    add(table.heads[h].end, fmt::format("head {}{}", h + 1, started ? ", now" : ""));
  for (size_t h = 0; started && h < table.heads.size(); ++h) {
    const TableHead& head = table.heads[h];
    std::vector<float> change;
    for (size_t n = 0; n < head.end.size(); ++n) change.push_back(head.end[n] - head.start[n]);
    add(change,
        fmt::format("head {}, change{}", h + 1, head.moved ? fmt::format(" · {:.2f}", *head.moved) : ""));
  }
  const double top = quantile(std::move(sizes), 0.995);  // as with weights
  grid.high = top > 0 ? top : 1;
  grid.low = -grid.high;
  return grid;
}

}  // namespace

std::vector<NamedPicture> map_pictures(const Inspection& found, std::optional<AttentionPlace> only) {
  std::vector<NamedPicture> pictures;
  for (const InspectedLayer& layer : found.layers) {
    if (only && layer.captured.stack != *only) continue;
    pictures.push_back(
        {fmt::format("{}-{}", choice_name(layer.captured.stack), layer.captured.number + 1),
         [&found, &layer](picture::Format format) { return draw(map_grid(found, layer), format); }});
  }
  return pictures;
}

std::vector<NamedPicture> table_pictures(const Inspection& found) {
  std::vector<NamedPicture> pictures;
  for (const RandomTable& table : found.tables) {
    pictures.push_back({fmt::format("table-{}-{}", table.layer, table.member),
                        [&table](picture::Format format) { return draw(table_grid(table), format); }});
  }
  return pictures;
}

}  // namespace synthesizer
