#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace synthesizer {

using OptionValue = std::variant<bool, int64_t, double, std::string>;

/// A value as people write it in C++: a literal 16 is a whole number, "tile" a name.
struct OptionLiteral : OptionValue {
  using OptionValue::variant;
  OptionLiteral(int value) : OptionValue(int64_t{value}) {}
  OptionLiteral(const char* value) : OptionValue(std::string(value)) {}
};

/// An option that a variant takes beside those every attention has. Help texts come from here.
struct OptionInfo {
  std::string name;
  std::string allowed;  ///< "a whole number ≥ 1", for messages and help
  std::string help;
};

/// Extra options by name, as `rank=16` in Python or on the command line.
class OptionMap {
 public:
  OptionMap() = default;
  OptionMap(std::initializer_list<std::pair<const std::string, OptionLiteral>> values)
      : values_(values.begin(), values.end()) {}

  void set(const std::string& name, OptionValue value) { values_[name] = std::move(value); }
  /// Reads "16", "0.5", "true" or "outer" as what it looks like.
  void parse(const std::string& name, const std::string& text);

  /// Each returns the fallback where the option was not given and throws where its type is wrong.
  int64_t integer(const std::string& name, int64_t fallback) const;
  double real(const std::string& name, double fallback) const;
  bool flag(const std::string& name, bool fallback) const;
  std::string text(const std::string& name, const std::string& fallback) const;

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  const std::map<std::string, OptionValue>& values() const { return values_; }

 private:
  std::map<std::string, OptionValue> values_;
};

/// What one attention layer is. `attention` is a spec such as "R+V"; see spec.h.
struct AttentionOptions {
  std::string attention = "V";
  int64_t width = 512;
  int64_t heads = 8;
  int64_t max_length = 256;
  bool causal = false;
  double dropout = 0;
  bool bias = false;       ///< of the value and output projections
  OptionMap options = {};  ///< those of the members, and `weights` of a mixture

  int64_t head_width() const { return width / heads; }
};

/// Throws InvalidInput where a value is out of its range, before anything is allocated.
void check(const AttentionOptions& options);

}  // namespace synthesizer
