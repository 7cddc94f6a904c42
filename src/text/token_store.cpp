#include "text/token_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/file.h"
#include "text/content_hash.h"
#include "text/file_lock.h"
#include "text/file_stamp.h"
#include "text/store_maker.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

/// Everything the numbers depend on; the names of files are not among it.
std::string store_hash(const StoreOptions& options, const Files& files,
                       const std::vector<std::pair<std::string, std::string>>& file_hashes) {
  ContentHash hash;
  hash.add("synthesizer tokens 2");  // the second way of reading: without byte order marks
  hash.add(choice_name(files.format));
  hash.add(parallel(files) ? "parallel" : "one after another");
  if (parallel(files) && files.side_by_side > 0) hash.add(std::to_string(files.side_by_side));
  hash.add(std::to_string(files.columns.size()));
  for (const auto& column : files.columns) hash.add(column);
  hash.add(files.converter_key);
  hash.add(std::to_string(file_hashes.size()));
  for (const auto& file : file_hashes) hash.add(file.second);
  for (const auto* tokenizer : options.tokenizers) hash.add(tokenizer->serialized());
  return hash.hex();
}

/// `alone`: nobody else is making the same; what is left over of an earlier attempt, or of this one, can go.
void make(const StoreOptions& options, const std::string& folder, const std::string& hash,
          const std::vector<std::pair<std::string, std::string>>& file_hashes, bool alone) {
  if (alone) fs::remove_all(folder);
  fs::create_directories(folder);
  try {
    StoreIndex index = make_store(options, folder);
    for (const auto& [path, before] : file_hashes) {
      if (file_hash(path) != before) throw std::runtime_error(path + " changed while it was read: try again");
    }
    index.hash = hash;
    write_index(folder, index);
  } catch (...) {
    std::error_code ignored;
    if (alone) fs::remove_all(folder, ignored);
    throw;
  }
}

/// The files of a store whose contents were compared with the index, by the stamps they had then. Reading all
/// of a large store at every start would take longer than the rest of it.
class Verified {
 public:
  explicit Verified(const std::string& folder) : path_(folder + "/verified.json") {
    std::error_code none;
    if (!fs::is_regular_file(path_, none)) return;
    try {
      known_ = nlohmann::json::parse(read_file(path_)).get<std::map<std::string, FileStamp>>();
    } catch (const std::exception&) {  // damaged: all is compared again
      known_.clear();
    }
  }
  bool has(const std::string& name, const FileStamp& stamp) const {
    const auto found = known_.find(name);
    return found != known_.end() && found->second == stamp;
  }
  void add(const std::string& name, const FileStamp& stamp) {
    if (stamp.settled()) known_[name] = stamp, changed_ = true;
  }
  void save() const {
    try {
      if (changed_) write_file(path_, nlohmann::json(known_).dump(1) + "\n");
    } catch (const std::exception&) {  // they will be compared again
    }
  }

 private:
  std::string path_;
  std::map<std::string, FileStamp> known_;
  bool changed_ = false;
};

/// The file where size and contents are those of the index; otherwise nothing.
std::optional<MappedFile> map_whole(const std::string& folder, const StoredFile& entry, Verified& verified) {
  const std::string path = folder + "/" + entry.name;
  const auto stamp = stamp_of(path);
  if (!stamp || stamp->bytes != entry.bytes) return {};
  MappedFile file(path);
  if (verified.has(entry.name, *stamp)) return file;
  if (content_hash(file.data(), file.bytes()) != entry.hash) return {};
  verified.add(entry.name, *stamp);
  return file;
}

}  // namespace

TokenStore TokenStore::open(const StoreOptions& given) {
  StoreOptions options = given;
  options.files = resolved(given.files);
  TokenStore store;
  store.files_ = options.files;
  const std::string hashes = (fs::path(options.cache) / "hashes").string();
  for (const auto& path : options.files.paths)
    store.file_hashes_.emplace_back(path, remembered_hash(hashes, path));
  const std::string hash = store_hash(options, options.files, store.file_hashes_);
  const std::string folder = (fs::path(options.cache) / hash).string();
  const size_t fields = options.tokenizers.size();
  for (const Tokenizer* tokenizer : options.tokenizers) store.unknown_.push_back(tokenizer->unknown());

  store.reused_ = store.load(folder, hash, fields);
  if (store.reused_) return store;
  fs::create_directories(fs::absolute(folder).parent_path());
  const FileLock lock(folder + ".lock");
  store.reused_ = store.load(folder, hash, fields);  // somebody else may have made it while we waited
  if (store.reused_) return store;
  make(options, folder, hash, store.file_hashes_, lock.held());
  for (const auto& path : options.files.paths) remembered_hash(hashes, path);  // old enough now, mostly
  if (!store.load(folder, hash, fields)) {
    throw std::runtime_error(fmt::format("{} does not hold what was just written to it", folder));
  }
  return store;
}

bool TokenStore::load(const std::string& folder, const std::string& hash, size_t fields) {
  auto index = read_index(folder);
  if (!index || index->hash != hash || index->fields != static_cast<int64_t>(fields)) return false;
  std::map<std::string, MappedFile> files;
  Verified verified(folder);
  for (const auto& entry : index->files) {
    auto file = map_whole(folder, entry, verified);
    if (!file) return false;
    files.emplace(entry.name, std::move(*file));
  }
  auto take = [&](const std::string& name) {
    auto node = files.extract(name);
    return node.empty() ? std::optional<MappedFile>() : std::move(node.mapped());
  };
  columns_.clear();
  lines_.clear();
  for (size_t i = 0; i < fields; ++i) {
    auto begins = take(column_file(i, "begins")), counts = take(column_file(i, "counts"));
    if (!begins || !counts) return false;
    std::vector<MappedFile> shards;
    while (auto shard = take(column_file(i, fmt::format("tokens.{}", shards.size())))) {
      shards.push_back(std::move(*shard));
    }
    columns_.emplace_back(std::move(*begins), std::move(*counts), std::move(shards));
    if (!columns_.back().is_complete(index->examples)) return false;
  }
  auto lines = take("lines");
  if (!lines || lines->as<LineRun>().empty()) return false;
  lines_.push_back(std::move(*lines));
  index_ = std::move(*index);
  verified.save();
  return true;
}

std::optional<int64_t> TokenStore::unknown_tokens(size_t field) const {
  if (unknown_[field] < 0) return std::nullopt;
  int64_t count = 0;
  for (int64_t example = 0; example < size(); ++example) {
    const auto found = tokens(example, field);
    count += std::count(found.begin(), found.end(), unknown_[field]);
  }
  return count;
}

const LineRun& TokenStore::run_of(int64_t example) const {
  const auto runs = lines_[0].as<LineRun>();
  auto after = [](int64_t value, const LineRun& run) { return value < run.example; };
  return *(std::upper_bound(runs.begin(), runs.end(), example, after) - 1);
}

const std::string& TokenStore::path(int64_t example, size_t field) const {
  return files_.paths[static_cast<size_t>(run_of(example).file) + (parallel(files_) ? field : 0)];
}

int64_t TokenStore::line(int64_t example) const {
  const LineRun& run = run_of(example);
  return run.line + example - run.example;
}

std::string TokenStore::where(int64_t example, size_t field) const {
  return fmt::format("{}:{}", path(example, field), line(example));
}

}  // namespace synthesizer
