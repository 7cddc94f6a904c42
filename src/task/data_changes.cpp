#include "task/data_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/shell_quote.h"
#include "run/provenance.h"
#include "task/task.h"

namespace synthesizer {
namespace {

using RecordJson = nlohmann::ordered_json;

RecordJson read_record(const std::string& path) {
  if (!std::filesystem::exists(path))
    invalid(fmt::format("{} is missing: it says which data the run was trained on; put it back", path));
  RecordJson record = RecordJson::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) invalid(fmt::format("{} is damaged: it is not a JSON object; put it back", path));
  const auto data = record.find("data");
  const bool sound =
      data != record.end() && data->is_object() &&
      std::all_of(data->begin(), data->end(), [](const auto& hash) { return hash.is_string(); });
  if (!sound) invalid(fmt::format("{} is damaged: it has no hashes under \"data\"; put it back", path));
  return record;
}

bool has_hash(const RecordJson& data, const std::string& hash) {
  return std::any_of(data.begin(), data.end(), [&](const auto& known) { return known == hash; });
}

/// The setting that names other files than it did, or the same in another order.
std::string other_setting(const RecordJson& record, const Splits& splits) {
  const auto recorded = record.find("stores");
  if (recorded != record.end()) {
    for (const auto& [split, stores] : store_hashes(splits)) {
      const auto before = recorded->find(split);
      if (before == recorded->end() || *before != RecordJson(stores)) return "data." + split;
    }
    return "";
  }
  // Runs of earlier versions have the hashes of their files alone, by name.
  const RecordJson& before = record.at("data");
  const RecordJson now(data_hashes(splits));
  const bool all =
      std::all_of(before.begin(), before.end(), [&](const auto& hash) { return has_hash(now, hash); });
  return all && before.size() == now.size() ? "" : "data.train or data.dev";
}

std::string go_on_with(const std::string& what, const std::string& run) {
  return fmt::format(
      "train a new run, or go on with {} by synth train --run {} --resume "
      "--accept-changed-data",
      what, shell_quoted(run));
}

}  // namespace

std::map<std::string, std::string> data_hashes(const Splits& splits) {
  std::map<std::string, std::string> hashes;
  for (const Dataset* split : splits) {
    for (const auto& store : split->stores) {
      for (const auto& [path, hash] : store->file_hashes()) hashes[path] = hash;
    }
  }
  return hashes;
}

std::map<std::string, std::vector<std::string>> store_hashes(const Splits& splits) {
  std::map<std::string, std::vector<std::string>> hashes;
  for (size_t i = 0; i < splits.size(); ++i) {
    auto& own = hashes[i == 0 ? "train" : "dev"];
    for (const auto& store : splits[i]->stores) own.push_back(store->hash());
  }
  return hashes;
}

std::vector<std::string> changed_files(const std::string& record,
                                       const std::map<std::string, std::string>& now) {
  const RecordJson json = read_record(record);
  const RecordJson& data = json.at("data");
  std::vector<std::string> changed;
  for (const auto& [path, contents] : now) {
    const std::string before = data.value(without_home(path), "");
    // A folder may have another name since (a home that moved): what counts is the contents.
    const bool elsewhere = before.empty() && has_hash(data, contents);
    if (before != contents && !elsewhere) changed.push_back(path);
  }
  return changed;
}

DataChanges data_changes(const std::string& record, const Splits& splits) {
  return {changed_files(record, data_hashes(splits)), other_setting(read_record(record), splits)};
}

void refuse_changes(const std::string& run, const std::vector<std::string>& changed_files) {
  if (changed_files.empty()) return;
  const size_t more = changed_files.size() - 1;
  const std::string others = more > 0 ? fmt::format(" (and {} more)", more) : "";
  invalid(
      fmt::format("{}{} is not what {} was trained on, its contents have changed: put the old file back, {}",
                  changed_files.front(), others, run, go_on_with("the new contents", run)));
}

void refuse_changes(const std::string& run, const DataChanges& changes) {
  refuse_changes(run, changes.files);
  if (changes.others.empty()) return;
  invalid(
      fmt::format("the files of {} are others than {} was trained on, or in another order: put back what was "
                  "removed, added or renamed, {}",
                  changes.others, run, go_on_with("these files", run)));
}

void record_changes(const std::string& record, const Splits& splits, int64_t step) {
  RecordJson json = read_record(record);
  const RecordJson before = json.at("data");
  RecordJson now = RecordJson::object();
  for (const auto& [path, hash] : data_hashes(splits)) now[without_home(path)] = hash;
  RecordJson all = now;
  all.update(before);
  for (const auto& entry : all.items()) {
    const std::string was = before.value(entry.key(), ""), is = now.value(entry.key(), "");
    if (was == is) continue;
    json["changed_data"].push_back({{"step", step}, {"file", entry.key()}, {"before", was}, {"after", is}});
  }
  json["data"] = now;
  write_file(record, json.dump(2, ' ', false, RecordJson::error_handler_t::replace) + "\n");
}

}  // namespace synthesizer
