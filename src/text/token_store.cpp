#include "text/token_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/folders.h"
#include "text/content_hash.h"
#include "text/file_stamp.h"
#include "text/store_maker.h"
#include "text/store_parts.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostLines = int64_t{1} << 62;  // of a file: numbers above are damage

struct FileChanged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

/// Makes the folder of all stores. Where it cannot be written, the message says what to do.
void make_cache(const std::string& folder) {
  const auto advice = [](const std::string& reason) {
    return fmt::format("tokenized text cannot be kept: {}; set data.cache to a folder that can be written",
                       reason);
  };
  try {
    make_folders(folder);
  } catch (const InvalidInput& error) {
    invalid(advice(error.what()));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(advice(error.what()));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw std::runtime_error(advice(fmt::format("{} cannot be written: {}", folder, std::strerror(errno))));
}

/// Throws where a file is no longer what it was when the work began.
void check_unchanged(const std::vector<std::pair<std::string, std::string>>& file_hashes) {
  for (const auto& [path, before] : file_hashes) {
    if (file_hash(path) != before) throw FileChanged(path + " changed while it was read: try again");
  }
}

/// `alone`: nobody else is making the same; what is left over of an earlier attempt, or of this one, can go.
/// `parts`: none for a small corpus.
void make(const StoreOptions& options, const std::string& folder, const std::string& hash,
          const std::vector<std::pair<std::string, std::string>>& file_hashes, bool alone,
          StoreParts* parts) {
  if (alone) fs::remove_all(folder);
  make_folders(folder);
  try {
    StoreIndex index = parts ? parts->join(folder) : make_store(options, folder);
    check_unchanged(file_hashes);
    index.hash = hash;
    write_index(folder, index);
  } catch (...) {
    std::error_code ignored;
    if (alone) fs::remove_all(folder, ignored);
    throw;
  }
}

/// Makes what other processes do not make meanwhile.
void help_making(StoreParts& parts, const std::string& folder) {
  try {
    parts.make_free_ones([&] { return read_index(folder).has_value(); });
  } catch (const std::runtime_error&) {
    if (!read_index(folder)) throw;  // otherwise another has finished, and removed what was written to
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
  const std::string hashes = (fs::path(options.cache) / "hashes").string();
  std::vector<std::pair<std::string, std::string>> file_hashes;
  for (const auto& path : options.files.paths) file_hashes.emplace_back(path, remembered_hash(hashes, path));
  const std::string hash = store_hash(options, options.files, file_hashes);
  const std::string folder = (fs::path(options.cache) / hash).string();

  auto store = read(options, folder, hash);
  bool reused = store.has_value();
  if (!reused) {
    make_cache(options.cache);
    std::optional<StoreParts> parts;
    if (StoreParts::worthwhile(options)) parts.emplace(options, folder + ".parts");
    try {
      if (parts) help_making(*parts, folder);
      const FileLock lock(folder + ".lock");
      store = read(options, folder, hash);  // somebody else may have made it while we waited
      reused = store.has_value();
      if (!reused) make(options, folder, hash, file_hashes, lock.held(), parts ? &*parts : nullptr);
      if (parts) parts->remove();
    } catch (const InvalidInput&) {  // after any other failure, a full disk say, the parts are of use
      if (parts) parts->remove();
      throw;
    } catch (const FileChanged&) {
      if (parts) parts->remove();
      throw;
    }
    if (!reused) {
      for (const auto& path : options.files.paths) remembered_hash(hashes, path);  // old enough now, mostly
      store = read(options, folder, hash);
    }
  }
  if (!store) throw std::runtime_error(fmt::format("{} does not hold what was just written to it", folder));
  store->file_hashes_ = std::move(file_hashes);
  store->reused_ = reused;
  return *std::move(store);
}

std::optional<TokenStore> TokenStore::read(const StoreOptions& options, const std::string& folder,
                                           const std::string& hash) {
  TokenStore store;
  store.files_ = options.files;
  for (const Tokenizer* tokenizer : options.tokenizers) store.unknown_.push_back(tokenizer->unknown());
  if (!store.load(folder, hash)) return std::nullopt;
  return store;
}

bool TokenStore::load(const std::string& folder, const std::string& hash) {
  const size_t fields = unknown_.size();
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
  const auto next = std::upper_bound(runs.begin(), runs.end(), example, after);
  if (next == runs.begin()) damaged_store();
  const LineRun& run = *(next - 1);
  const auto files = static_cast<int64_t>(files_.paths.size());
  if (run.example < 0 || run.line < 0 || run.line > kMostLines || run.file < 0 || run.file >= files)
    damaged_store();
  return run;
}

const std::string& TokenStore::path(int64_t example, size_t field) const {
  const size_t file = static_cast<size_t>(run_of(example).file) + (parallel(files_) ? field : 0);
  if (file >= files_.paths.size()) damaged_store();
  return files_.paths[file];
}

int64_t TokenStore::line(int64_t example) const {
  const LineRun& run = run_of(example);
  return run.line + example - run.example;
}

std::string TokenStore::where(int64_t example, size_t field) const {
  return fmt::format("{}:{}", path(example, field), line(example));
}

}  // namespace synthesizer
