#pragma once

#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace synthesizer {

/// Another program's settings (config.json). Each is marked as it is read; what is set and was not read, and
/// is not known to be without effect, is refused by name: nothing is ignored by accident.
class ForeignConfig {
 public:
  /// Throws InvalidInput where the file is missing or not a JSON object.
  explicit ForeignConfig(const std::string& path);

  const std::string& path() const { return path_; }
  bool has(const std::string& key) const;  ///< and it is not null
  /// Each returns the fallback where the key is missing or null; throws InvalidInput where it is of another
  /// kind.
  int64_t integer(const std::string& key, int64_t fallback);
  double real(const std::string& key, double fallback);
  bool flag(const std::string& key, bool fallback);
  std::string text(const std::string& key, const std::string& fallback);
  const nlohmann::json& value(const std::string& key);  ///< null where it is missing

  int64_t integer(const std::string& key);  ///< throws InvalidInput where it is missing

  /// Throws InvalidInput, naming key and value, where it is set to anything else than this or null.
  void expect(const std::string& key, const nlohmann::json& only);
  /// Settings that change nothing here.
  void without_effect(std::initializer_list<const char*> keys);
  /// Throws InvalidInput where a setting was not read; `ignored`: those that the user wants ignored.
  void check_all_read(const std::vector<std::string>& ignored) const;

  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

 private:
  std::string path_;
  std::shared_ptr<const nlohmann::json> settings_;
  std::set<std::string> read_;
};

}  // namespace synthesizer
