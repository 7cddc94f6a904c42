#include "compare/attention_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

#include "inspect/inspection.h"
#include "report/packed_matrix.h"

namespace synthesizer {
namespace {

using nlohmann::json;

/// "encoder.layers.3" as its stack and its number.
struct Place {
  std::string stack;
  int64_t layer = 0;
};
Place place_of(const std::string& name) {
  const size_t dot = name.find('.'), last = name.rfind('.');
  Place place{name.substr(0, dot), 0};
  if (last != std::string::npos)
    std::from_chars(name.data() + last + 1, name.data() + name.size(), place.layer);
  return place;
}

/// The table that a layer's weights are made from alone; null where tokens have their say.
const RandomTable* only_table(const Inspection& inspection, const CapturedLayer& captured) {
  if (captured.stack == AttentionPlace::cross) return nullptr;
  for (const RandomTable& table : inspection.tables) {
    if (table.layer == captured.layer && table.member == captured.attention) return &table;
  }
  return nullptr;
}

json head_json(const WeightMap& map, const HeadStatistics& numbers, const RandomTable* table, size_t head) {
  json object = {{"weights", packed_matrix(map.weights, map.rows, map.columns)},
                 {"entropy", numbers.entropy},
                 {"distance", numbers.distance}};
  if (table && head < table->heads.size()) {
    const TableHead& own = table->heads[head];
    object["table"] = packed_matrix(own.end, table->shown, table->shown);
    if (!own.start.empty()) object["table_start"] = packed_matrix(own.start, table->shown, table->shown);
  }
  return object;
}

}  // namespace

json attention_json(const Inspection& inspection) {
  json layers = json::array();
  for (const InspectedLayer& layer : inspection.layers) {
    const CapturedLayer& captured = layer.captured;
    const RandomTable* table = only_table(inspection, captured);
    json heads = json::array();
    for (size_t head = 0; head < captured.heads.size(); ++head)
      heads.push_back(head_json(captured.heads[head], layer.numbers[head], table, head));
    const auto& rows =
        captured.stack == AttentionPlace::encoder ? inspection.encoder_tokens : inspection.decoder_tokens;
    const auto& columns =
        captured.stack == AttentionPlace::decoder ? inspection.decoder_tokens : inspection.encoder_tokens;
    layers.push_back(
        {{"stack", choice_name(captured.stack)},
         {"layer", captured.number},
         {"global", table != nullptr},
         {"rows", rows},
         {"columns", columns},
         {"heads", heads},
         {"histogram", {{"edges", WeightHistogram::edges()}, {"counts", layer.histogram.counts}}}});
    if (layer.start) layers.back()["histogram"]["start"] = layer.start->counts;
  }
  return layers;
}

json tables_json(const Inspection& inspection) {
  json tables = json::array();
  for (const RandomTable& table : inspection.tables) {
    const Place place = place_of(table.layer);
    json moved = json::array(), change = json::array();
    for (const TableHead& head : table.heads) {
      moved.push_back(head.moved ? json(*head.moved) : json(nullptr));
      change.push_back(head.change ? json(*head.change) : json(nullptr));
    }
    tables.push_back({{"stack", place.stack},
                      {"layer", place.layer},
                      {"member", table.member},
                      {"moved", moved},
                      {"change", change}});
  }
  return tables;
}

json mixture_json(const Inspection& inspection) {
  json entries = json::array();
  for (const MixtureAt& at : inspection.mixtures_over_training) {
    const auto now = std::find_if(inspection.mixtures.begin(), inspection.mixtures.end(),
                                  [&](const MixtureAt& one) { return one.layer == at.layer; });
    if (now == inspection.mixtures.end()) continue;
    const auto& members = inspection.mixture_members[static_cast<size_t>(now - inspection.mixtures.begin())];
    const Place place = place_of(at.layer);
    json entry = {{"step", at.step}, {"stack", place.stack}, {"layer", place.layer}, {"members", members}};
    if (at.shares.size() == 1) {
      entry["weights"] = at.shares[0];
    } else {
      entry["weights"] = at.shares;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace synthesizer
