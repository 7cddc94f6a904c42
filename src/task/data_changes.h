#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace synthesizer {

struct Dataset;

/// A file that a run was trained on and whose contents are others now.
struct ChangedFile {
  std::string path;
  std::string before, after;  ///< hashes of the contents; `before` is empty where run.json has none
};

/// Path and hash of every file of these splits.
std::map<std::string, std::string> data_hashes(const std::vector<const Dataset*>& splits);

/// Which of these files are not those that run.json was written with. Throws InvalidInput where run.json is
/// missing or damaged.
std::vector<ChangedFile> changed_files(const std::string& record,
                                       const std::map<std::string, std::string>& now);

/// Throws InvalidInput, with the first file and what to do, unless there are none.
void refuse_changes(const std::string& run, const std::vector<ChangedFile>& changed);

/// Notes in run.json that training goes on with the new contents from this step: "data" has the new hashes,
/// "changed_data" both for each file.
void record_changes(const std::string& record, const std::vector<ChangedFile>& changed, int64_t step);

}  // namespace synthesizer
