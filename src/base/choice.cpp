#include "base/choice.h"

#include "base/range.h"

namespace synthesizer {

std::optional<size_t> find_choice(Choices all, std::string_view name) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return i;
  }
  return std::nullopt;
}

size_t choose(const std::string& key, Choices all, const std::string& name) {
  const auto found = find_choice(all, name);
  if (!found) check_one_of(key, name, names_of(all));  // throws
  return *found;
}

std::string list_of(Choices all) {
  std::string list;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) list += i + 1 == all.size() ? " or " : ", ";
    list += all[i].name;
    if (!all[i].note.empty()) list += " (" + std::string(all[i].note) + ")";
  }
  return list;
}

std::vector<std::string> names_of(Choices all) {
  std::vector<std::string> names;
  for (const ChoiceName& one : all) names.emplace_back(one.name);
  return names;
}

}  // namespace synthesizer
