#pragma once

#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "interop/ignored_settings.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// The whole numbers that a setting may have.
struct WholeNumbers {
  int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
};
inline constexpr WholeNumbers kSizes{1, 1 << 20};         ///< widths, heads, layers
inline constexpr WholeNumbers kVocabularies{1, 1 << 30};  ///< tokens of a model
inline constexpr WholeNumbers kLengths{0, 1 << 30};       ///< of texts, in tokens

/// Another program's settings (config.json). Each is marked as it is read; what is set and was not read, and
/// is not known to be without effect, is refused by name: nothing is ignored by accident.
class ForeignConfig {
 public:
  /// Throws InvalidInput where the file is missing or not a JSON object.
  explicit ForeignConfig(const std::string& path);
  /// The same of a file that need not be there: without it nothing is set.
  static ForeignConfig optional(const std::string& path);

  /// The settings of an object within these; nothing is set in it where it is missing or null.
  ForeignConfig part(const std::string& key);
  /// The same of each object in a list, one after the other.
  void for_each_part(const std::string& key, const std::function<void(ForeignConfig&)>& use);

  const std::string& path() const { return path_; }
  bool has(const std::string& key) const;  ///< and it is not null
  /// Each returns the fallback where the key is missing or null; throws InvalidInput where it is of another
  /// kind, or a number out of range, the fallback included.
  int64_t integer(const std::string& key, int64_t fallback, WholeNumbers range = {});
  double real(const std::string& key, double fallback);
  bool flag(const std::string& key, bool fallback);
  std::string text(const std::string& key, const std::string& fallback);
  const nlohmann::json& value(const std::string& key);  ///< null where it is missing
  /// The number of a token, of so many.
  Token token(const std::string& key, Token fallback, int64_t tokens);

  // These throw InvalidInput where the key is missing.
  int64_t integer(const std::string& key, WholeNumbers range);
  Token token(const std::string& key, int64_t tokens);

  /// Throws InvalidInput, naming key and value, where it is set to anything else than this or null.
  void expect(const std::string& key, const nlohmann::json& only);
  void expect_one_of(const std::string& key, std::initializer_list<const char*> allowed);  ///< the same
  /// Settings that change nothing here.
  void without_effect(std::initializer_list<const char*> keys);
  /// Throws InvalidInput where a setting was not read and is not one of those to be ignored.
  void check_all_read(IgnoredSettings& ignored) const;

  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

 private:
  ForeignConfig(std::string path, std::shared_ptr<const nlohmann::json> settings);
  ForeignConfig part_of(const std::string& name, const nlohmann::json& settings) const;
  void check_there(const std::string& key) const;

  std::string path_;
  std::shared_ptr<const nlohmann::json> settings_;
  std::set<std::string> read_;
};

}  // namespace synthesizer
