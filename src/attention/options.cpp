#include "attention/options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/number_text.h"

namespace synthesizer {
namespace {

std::string shown(const OptionValue& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>) {
          return fmt::format("'{}'", v);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(v)>, double>) {
          return real_text(v);  // without a point 1e3 would look like a whole number
        } else {
          return fmt::format("{}", v);
        }
      },
      value);
}

[[noreturn]] void wrong_type(const std::string& name, const OptionValue& value, const char* wanted) {
  invalid(fmt::format("option '{}' is {}: it must be {}", name, shown(value), wanted));
}

}  // namespace

void OptionMap::parse(const std::string& name, const std::string& text) {
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  double real = 0;
  if (auto r = std::from_chars(text.data(), end, whole); r.ec == std::errc() && r.ptr == end) {
    set(name, whole);
  } else if (auto r = std::from_chars(text.data(), end, real); r.ec == std::errc() && r.ptr == end) {
    set(name, real);
  } else if (text == "true" || text == "false") {
    set(name, text == "true");
  } else {
    set(name, text);
  }
}

int64_t OptionMap::integer(const std::string& name, int64_t fallback) const {
  auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  if (const auto* v = std::get_if<int64_t>(&found->second)) return *v;
  wrong_type(name, found->second, "a whole number");
}

double OptionMap::real(const std::string& name, double fallback) const {
  auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  if (const auto* v = std::get_if<double>(&found->second)) return *v;
  if (const auto* v = std::get_if<int64_t>(&found->second)) return static_cast<double>(*v);
  wrong_type(name, found->second, "a number");
}

bool OptionMap::flag(const std::string& name, bool fallback) const {
  auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  if (const auto* v = std::get_if<bool>(&found->second)) return *v;
  wrong_type(name, found->second, "true or false");
}

std::string OptionMap::text(const std::string& name, const std::string& fallback) const {
  auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  if (const auto* v = std::get_if<std::string>(&found->second)) return *v;
  wrong_type(name, found->second, "a name");
}

void check(const AttentionOptions& o) {
  if (o.width < 1) invalid(fmt::format("width is {}: it must be at least 1", o.width));
  if (o.heads < 1) invalid(fmt::format("heads is {}: it must be at least 1", o.heads));
  if (o.width % o.heads != 0) {
    invalid(fmt::format("width {} is not divisible by heads {}: every head has width/heads columns", o.width,
                        o.heads));
  }
  if (o.max_length < 1) {
    invalid(fmt::format("max_length is {}: it must be at least 1", o.max_length));
  }
  if (!(o.dropout >= 0 && o.dropout < 1)) {
    invalid(fmt::format("dropout is {}: it must be at least 0 and below 1", o.dropout));
  }
}

}  // namespace synthesizer
