#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace synthesizer {

/// One value of an enum as users write it.
struct ChoiceName {
  std::string_view name;
  std::string_view note = {};  ///< for help, in brackets behind the name
};
/// The names of an enum whose values are 0, 1, 2 …, in that order.
using Choices = std::span<const ChoiceName>;

/// An enum that users choose from. It has one function in its own namespace, and reading, writing, help texts
/// and messages all take its names from there:
///
///     enum class Norm { layer, rms };
///     inline Choices choices(Norm) {
///       static constexpr ChoiceName names[] = {{"layer"}, {"rms"}};
///       return names;
///     }
template <typename E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) {
  { choices(value) } -> std::same_as<Choices>;
};

/// The number of the choice of that name; none where there is none.
std::optional<size_t> find_choice(Choices all, std::string_view name);
/// The same; throws InvalidInput, with the key, what is allowed and the nearest of it, where there is none.
size_t choose(const std::string& key, Choices all, const std::string& name);
/// "sinusoidal, learned, relative (T5) or none".
std::string list_of(Choices all);
std::vector<std::string> names_of(Choices all);

template <NamedEnum E>
std::string choice_name(E value) {
  return std::string(choices(value)[static_cast<size_t>(value)].name);
}

template <NamedEnum E>
E choose(const std::string& key, const std::string& name) {
  return static_cast<E>(choose(key, choices(E{}), name));
}

/// A value of any such enum, for lists of settings of several kinds. Refers to a value that it does not own.
class ChoiceReference {
 public:
  template <NamedEnum E>
  ChoiceReference(E* value)
      : value_(value),
        all_(choices(E{})),
        get_([](const void* at) { return static_cast<size_t>(*static_cast<const E*>(at)); }),
        set_([](void* at, size_t number) { *static_cast<E*>(at) = static_cast<E>(number); }) {}

  Choices all() const { return all_; }
  std::string name() const { return std::string(all_[get_(value_)].name); }
  /// Throws InvalidInput, with the key, where there is no choice of that name.
  void set(const std::string& key, const std::string& name) const { set_(value_, choose(key, all_, name)); }

 private:
  void* value_;
  Choices all_;
  size_t (*get_)(const void*);
  void (*set_)(void*, size_t);
};

}  // namespace synthesizer
