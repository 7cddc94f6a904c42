#include "text/store_index.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/file.h"

namespace synthesizer {
namespace {

using nlohmann::json;

/// Of the layout of the folder: one that was written under another is made again.
constexpr int kIndexVersion = 1;

std::string index_path(const std::string& folder) {
  return folder + "/index.json";
}

/// A fraction, or a number beyond int64, would be read as some other number.
int64_t whole_number(const json& object, const char* key) {
  const json& value = object.at(key);
  if (!value.is_number_integer()) throw std::invalid_argument(key);
  return value.get<int64_t>();
}

}  // namespace

void write_index(const std::string& folder, const StoreIndex& index) {
  json files = json::array();
  for (const auto& file : index.files) {
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"hash", file.hash}});
  }
  const json whole = {{"version", kIndexVersion},
                      {"hash", index.hash},
                      {"examples", index.examples},
                      {"fields", index.fields},
                      {"files", files}};
  write_file(index_path(folder), whole.dump(1) + "\n");
}

std::optional<StoreIndex> read_index(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(index_path(folder), ignored)) return {};
  try {
    const json whole = json::parse(read_file(index_path(folder)));
    if (whole.at("version") != kIndexVersion) return {};
    StoreIndex index{whole.at("hash"), whole_number(whole, "examples"), whole_number(whole, "fields"), {}};
    for (const auto& file : whole.at("files")) {
      index.files.push_back({file.at("name"), whole_number(file, "bytes"), file.at("hash")});
    }
    return index;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace synthesizer
