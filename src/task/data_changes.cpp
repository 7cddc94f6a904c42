#include "task/data_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "run/provenance.h"
#include "task/task.h"

namespace synthesizer {
namespace {

using RecordJson = nlohmann::ordered_json;

RecordJson read_record(const std::string& path) {
  if (!std::filesystem::exists(path))
    invalid(fmt::format("{} is missing: it says which data the run was trained on; put it back", path));
  RecordJson record = RecordJson::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) invalid(fmt::format("{} is damaged: it is no JSON object; put it back", path));
  const auto data = record.find("data");
  const bool sound =
      data != record.end() && data->is_object() &&
      std::all_of(data->begin(), data->end(), [](const auto& hash) { return hash.is_string(); });
  if (!sound) invalid(fmt::format("{} is damaged: it has no hashes under \"data\"; put it back", path));
  return record;
}

}  // namespace

std::map<std::string, std::string> data_hashes(const std::vector<const Dataset*>& splits) {
  std::map<std::string, std::string> hashes;
  for (const Dataset* split : splits) {
    for (const auto& store : split->stores) {
      for (const auto& [path, hash] : store->file_hashes()) hashes[path] = hash;
    }
  }
  return hashes;
}

std::vector<ChangedFile> changed_files(const std::string& record,
                                       const std::map<std::string, std::string>& now) {
  const RecordJson json = read_record(record);
  const RecordJson& data = json.at("data");
  std::vector<ChangedFile> changed;
  for (const auto& [path, contents] : now) {
    const std::string& hash = contents;  // clang 14 captures no bindings
    const std::string before = data.value(without_home(path), "");
    if (before == hash) continue;
    // A folder may have another name since (a home that moved): what counts is the contents.
    const bool elsewhere = before.empty() && std::any_of(data.begin(), data.end(),
                                                         [&](const auto& known) { return known == hash; });
    if (!elsewhere) changed.push_back({path, before, hash});
  }
  return changed;
}

void refuse_changes(const std::string& run, const std::vector<ChangedFile>& changed) {
  if (changed.empty()) return;
  const std::string others = changed.size() > 1 ? fmt::format(" (and {} more)", changed.size() - 1) : "";
  invalid(
      fmt::format("{}{} is not what {} was trained on, its contents have changed: put the old file back, "
                  "train a new run, "
                  "or go on with the new contents by synth train --run {} --resume --accept-changed-data",
                  changed.front().path, others, run, run));
}

void record_changes(const std::string& record, const std::vector<ChangedFile>& changed, int64_t step) {
  RecordJson json = read_record(record);
  for (const ChangedFile& file : changed) {
    const std::string path = without_home(file.path);
    json["data"][path] = file.after;
    json["changed_data"].push_back(
        {{"step", step}, {"file", path}, {"before", file.before}, {"after", file.after}});
  }
  write_file(record, json.dump(2, ' ', false, RecordJson::error_handler_t::replace) + "\n");
}

}  // namespace synthesizer
