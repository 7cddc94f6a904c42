#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace synthesizer {

struct Dataset;

/// What a run learns from, and what it is validated on, where it is.
using Splits = std::vector<const Dataset*>;

/// Path and hash of every file of these splits.
std::map<std::string, std::string> data_hashes(const Splits& splits);

/// "train" and "dev", each with a hash for every store (TokenStore::hash): they tell which files are read in
/// which order, whatever their names are.
std::map<std::string, std::vector<std::string>> store_hashes(const Splits& splits);

/// The paths of those files whose contents are not among those that run.json was written with. Throws
/// InvalidInput where run.json is missing or damaged.
std::vector<std::string> changed_files(const std::string& record,
                                       const std::map<std::string, std::string>& now);

/// How the data differ from those that run.json was last written with ("data", and "stores" of store_hashes).
struct DataChanges {
  std::vector<std::string> files;  ///< whose contents have changed
  /// "data.train": it names other files than it did, or the same in another order; empty: no setting does.
  std::string others;
  bool any() const { return !files.empty() || !others.empty(); }
};

/// The same, and whether a file is missing, was added, or is read at another place. Throws as changed_files.
DataChanges data_changes(const std::string& record, const Splits& splits);

/// Throw InvalidInput, with the first file or the setting and what to do, unless there are none.
void refuse_changes(const std::string& run, const std::vector<std::string>& changed_files);
void refuse_changes(const std::string& run, const DataChanges& changes);

/// Notes in run.json that training goes on with these data from this step: "data" has their hashes,
/// "changed_data" those before and after for each file that changed; "" where there was or is no such file.
void record_changes(const std::string& record, const Splits& splits, int64_t step);

}  // namespace synthesizer
