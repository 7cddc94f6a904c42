#include "inspect/json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace synthesizer {
namespace {

using Json = nlohmann::ordered_json;

/// Four digits are more than a colour shows, and a third of the file.
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
}

Json matrix(const std::vector<float>& values, int64_t rows, int64_t columns) {
  Json out = Json::array();
  auto value = values.begin();
  for (int64_t i = 0; i < rows; ++i) {
    Json row = Json::array();
    for (int64_t j = 0; j < columns; ++j) row.push_back(rounded(*value++));
    out.push_back(std::move(row));
  }
  return out;
}

Json head_json(const HeadStatistics& head) {
  return {{"entropy", head.entropy},
          {"entropy_share", head.entropy_share},
          {"distance", head.distance},
          {"diagonal", {{"offset", head.offset}, {"weight", head.diagonal}}},
          {"near_uniform", head.near_uniform()},
          {"near_diagonal", head.near_diagonal()}};
}

Json layer_json(const InspectedLayer& layer) {
  const CapturedLayer& captured = layer.captured;
  Json heads = Json::array(), maps = Json::array();
  for (const HeadStatistics& head : layer.numbers) heads.push_back(head_json(head));
  for (const WeightMap& map : captured.heads) maps.push_back(matrix(map.weights, map.rows, map.columns));
  return {{"stack", choice_name(captured.stack)},
          {"layer", captured.number},
          {"name", captured.layer},
          {"attention", captured.attention},
          {"causal", captured.heads[0].causal},
          {"heads", heads},
          {"histogram", layer.histogram.counts},
          {"histogram_start", layer.start ? Json(layer.start->counts) : Json(nullptr)},
          {"maps", maps}};
}

Json table_json(const RandomTable& table) {
  Json heads = Json::array(), start = Json::array(), end = Json::array();
  for (const TableHead& head : table.heads) {
    Json values = Json::array();
    for (const double value : head.spectrum.values) values.push_back(rounded(value));
    heads.push_back({{"effective_rank", head.spectrum.effective_rank()},
                     {"rank_99", head.spectrum.holding(0.99)},
                     {"moved", head.moved ? Json(*head.moved) : Json(nullptr)},
                     {"change", head.change ? Json(*head.change) : Json(nullptr)},
                     {"singular_values", std::move(values)}});
    if (!head.start.empty()) start.push_back(matrix(head.start, table.shown, table.shown));
    end.push_back(matrix(head.end, table.shown, table.shown));
  }
  return {
      {"layer", table.layer}, {"member", table.member}, {"causal", table.causal}, {"length", table.length},
      {"shown", table.shown}, {"heads", heads},         {"start", start},         {"end", end}};
}

/// One list for a layer, or a list per head.
Json shares_json(const std::vector<std::vector<double>>& shares) {
  return shares.size() == 1 ? Json(shares.front()) : Json(shares);
}

Json pair_json(const Inspection& found, const HeadPair& pair) {
  const CapturedLayer &a = found.layers[pair.first_layer].captured,
                      &b = found.layers[pair.second_layer].captured;
  return {{"stack", choice_name(a.stack)},
          {"first", {{"layer", a.number}, {"head", pair.first_head}}},
          {"second", {{"layer", b.number}, {"head", pair.second_head}}},
          {"difference", pair.difference}};
}

}  // namespace

Json to_json(const Inspection& found) {
  Json out = {{"run", found.run},
              {"task", found.task},
              {"attention", found.attention},
              {"from", found.from},
              {"texts", found.texts},
              {"text", found.text},
              {"target", found.target},
              {"tokens", {{"encoder", found.encoder_tokens}, {"decoder", found.decoder_tokens}}},
              {"summary", summary_of(found)},
              {"histogram_edges", Json::array()}};
  for (const double edge : WeightHistogram::edges()) out["histogram_edges"].push_back(rounded(edge));
  for (const char* list :
       {"layers", "without_weights", "identical", "tables", "mixtures", "mixtures_over_training"})
    out[list] = Json::array();
  for (const InspectedLayer& layer : found.layers) out["layers"].push_back(layer_json(layer));
  for (const CapturedLayer& layer : found.without_weights) {
    out["without_weights"].push_back({{"stack", choice_name(layer.stack)},
                                      {"layer", layer.number},
                                      {"name", layer.layer},
                                      {"attention", layer.attention}});
  }
  for (const HeadPair& pair : found.identical) out["identical"].push_back(pair_json(found, pair));
  for (const RandomTable& table : found.tables) out["tables"].push_back(table_json(table));
  for (size_t n = 0; n < found.mixtures.size(); ++n) {
    out["mixtures"].push_back({{"layer", found.mixtures[n].layer},
                               {"members", found.mixture_members[n]},
                               {"weights", shares_json(found.mixtures[n].shares)}});
  }
  for (const MixtureAt& one : found.mixtures_over_training) {
    out["mixtures_over_training"].push_back(
        {{"step", one.step}, {"layer", one.layer}, {"weights", shares_json(one.shares)}});
  }
  return out;
}

}  // namespace synthesizer
