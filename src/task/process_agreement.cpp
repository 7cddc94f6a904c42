#include "task/process_agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "task/recipe_keys.h"

namespace synthesizer {
namespace {

/// Keys that may differ from machine to machine.
const std::set<std::string> kLocalKeys = {"data.root",      "data.train",    "data.dev",
                                          "data.test",      "data.cache",    "data.vectors",
                                          "data.tokenizer", "train.threads", "train.init_from"};

nlohmann::json description(Recipe recipe, const std::vector<const Dataset*>& data,
                           const std::map<std::string, std::string>& others) {
  nlohmann::json settings = nlohmann::json::object(), hashes = nlohmann::json::array();
  for (const Key& key : keys_of(recipe)) {
    if (!kLocalKeys.contains(key.name)) settings[key.name] = toml_value(key.value);
  }
  for (const Dataset* split : data) {
    for (const auto& store : split->stores) hashes.push_back(store->hash());
  }
  return {{"recipe", settings}, {"data", hashes}, {"others", nlohmann::json(others)}};
}

/// How a process differs from rank 0; empty: not at all.
std::string difference(const nlohmann::json& theirs, const nlohmann::json& first) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : first["recipe"].items()) {
    if (theirs["recipe"][key] != value) {
      keys.push_back(fmt::format("{} ({}, rank 0 has {})", key, theirs["recipe"][key].get<std::string>(),
                                 value.get<std::string>()));
    }
  }
  if (!keys.empty()) {
    return fmt::format("has another recipe than rank 0; it differs in {}: start all processes with the same",
                       fmt::join(keys, ", "));
  }
  for (const auto& [name, value] : first["others"].items()) {
    const auto own = theirs["others"].value(name, std::string());
    const auto wanted = value.get<std::string>();
    if (own != wanted) {
      return fmt::format("differs from rank 0 in {} ({}, rank 0 has {}): start all processes with the same",
                         name, own, wanted);
    }
  }
  if (theirs["data"] != first["data"])
    return "has other data than rank 0: give all processes the same files, copied to all machines";
  return "";
}

}  // namespace

void check_agreement(ProcessGroup& group, const Recipe& recipe, const std::vector<const Dataset*>& data,
                     const std::map<std::string, std::string>& others) {
  using nlohmann::json;
  const auto all =
      group.gather(description(recipe, data, others).dump(-1, ' ', false, json::error_handler_t::replace));
  const json first = json::parse(all.front());
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const std::string what = difference(json::parse(all[rank]), first);
    // All find the same, and all say it: none is lost for the others.
    if (!what.empty()) throw PeerLost(fmt::format("rank {} {}", rank, what));
  }
}

Tokenizers share_tokenizers(ProcessGroup* group, const std::function<Tokenizers()>& make) {
  if (!group) return make();
  Tokenizers own;
  if (group->first()) own = make();
  const std::string source = group->broadcast(own.source ? own.source->serialized() : "");
  const std::string target = group->broadcast(own.source && !own.joint() ? own.target->serialized() : "");
  if (group->first()) return own;
  const std::shared_ptr<const Tokenizer> one = parse_tokenizer(source, "the tokenizer of rank 0");
  if (target.empty()) return {one, one};
  return {one, parse_tokenizer(target, "the target tokenizer of rank 0")};
}

}  // namespace synthesizer
