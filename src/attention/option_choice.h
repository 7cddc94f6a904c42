#pragma once

#include <string>

#include "attention/options.h"
#include "base/choice.h"
#include "base/error.h"

namespace synthesizer {

/// An option of an attention whose value is one of an enum's names. Throws InvalidInput for any other.
template <NamedEnum E>
E choice_option(const OptionMap& options, const std::string& name, E fallback) {
  const std::string given = options.text(name, choice_name(fallback));
  const Choices all = choices(fallback);
  if (const auto found = find_choice(all, given)) return static_cast<E>(*found);
  std::string list;
  for (size_t i = 0; i < all.size(); ++i)
    list += (i == 0 ? "'" : i + 1 == all.size() ? " or '" : ", '") + std::string(all[i].name) + "'";
  invalid("option '" + name + "' is '" + given + "': it must be " + list);
}

}  // namespace synthesizer
