#include "compare/cached_evaluation.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "base/file.h"
#include "task/data_files.h"
#include "task/run.h"
#include "text/content_hash.h"

namespace synthesizer {
namespace {

using Json = nlohmann::ordered_json;

/// The value of a decode option.
struct ValueOf {
  const DecodeOptions& options;

  template <NamedEnum E>
  Json operator()(E DecodeOptions::*member) const {
    return choice_name(options.*member);
  }
  template <typename T>
  Json operator()(T DecodeOptions::*member) const {
    return options.*member;
  }
};

/// What the result depends on; the order of the keys does not count.
nlohmann::json conditions(const OpenRun& run, const std::string& weights,
                          const std::vector<std::string>& files) {
  const DecodeOptions& decode = run.task->recipe().decode;
  nlohmann::json data = nlohmann::json::object();
  for (const auto& shards : expand_patterns(run.task->recipe(), files)) {
    for (const std::string& path : shards) data[path] = file_hash(path);
  }
  nlohmann::json all = {{"weights", file_hash(run.folder.weights(weights))}, {"data", data}};
  for (const DecodeOption& option : decode_option_list()) {
    if (option.use == DecodeOption::Use::search)
      all[option.name] = std::visit(ValueOf{decode}, option.member);
  }
  return all;
}

Json to_json(const Evaluation& found) {
  Json scores = Json::array(), scored = Json::array();
  for (const auto& [key, value] : found.scores) scores.push_back({key, value});
  for (const auto& one : found.outputs.scored) scored.push_back({one.metric, one.options, one.keys});
  const Outputs& o = found.outputs;
  return {{"scores", scores},     {"notes", found.notes},       {"scored", scored},   {"sources", o.sources},
          {"written", o.written}, {"references", o.references}, {"tokens", o.tokens}, {"seconds", o.seconds}};
}

Evaluation from_json(const Json& json) {
  Evaluation found;
  for (const Json& pair : json.at("scores")) found.scores.emplace_back(pair.at(0), pair.at(1));
  found.notes = json.at("notes").get<std::vector<std::pair<std::string, std::string>>>();
  Outputs& o = found.outputs;
  for (const Json& one : json.at("scored")) o.scored.push_back({one.at(0), one.at(1), one.at(2)});
  o.sources = json.at("sources").get<Segments>();
  o.written = json.at("written").get<Segments>();
  o.references = json.at("references").get<References>();
  o.tokens = json.at("tokens");
  o.seconds = json.at("seconds");
  return found;
}

}  // namespace

Evaluation cached_evaluation(const std::string& folder, const std::string& weights,
                             const std::vector<std::string>& data) {
  const OpenRun run = open_run(folder, weights);
  const Recipe& recipe = run.task->recipe();
  const auto files = split_files(recipe, data);
  const nlohmann::json now = conditions(run, weights, files);
  const std::string path = run.folder.evaluation();
  if (std::filesystem::exists(path)) {
    // A file that cannot be read is one from another version: it is made anew.
    const Json kept = Json::parse(read_file(path), nullptr, false);
    if (kept.is_object() && kept.contains("conditions") && nlohmann::json(kept["conditions"]) == now)
      return from_json(kept.at("found"));
  }
  const auto split = run.task->open(files, false);
  Evaluation found = run.task->evaluate(*split, true, recipe.decode);
  const auto replace = Json::error_handler_t::replace;
  write_file(path, Json{{"conditions", now}, {"found", to_json(found)}}.dump(1, ' ', false, replace) + "\n");
  return found;
}

}  // namespace synthesizer
