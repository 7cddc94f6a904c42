#pragma once

#include <set>
#include <string>
#include <vector>

namespace synthesizer {

/// Settings that the user wants ignored (--ignore), and which of them the model's files have.
class IgnoredSettings {
 public:
  explicit IgnoredSettings(const std::vector<std::string>& keys = {}) : keys_(keys.begin(), keys.end()) {}

  /// Whether this setting, which a file has, is to be ignored.
  bool contains(const std::string& key) {
    if (keys_.contains(key)) found_.insert(key);
    return keys_.contains(key);
  }
  /// Throws InvalidInput where contains() was asked for one of them never: it is misspelt, or is a setting
  /// that is not ignored.
  void check_all_found() const;

 private:
  std::set<std::string> keys_, found_;
};

}  // namespace synthesizer
