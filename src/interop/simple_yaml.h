#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// YAML as Marian writes it: keys with one value or a list of values, no maps inside. A value that is missing
/// is an empty list.
using SimpleYaml = std::map<std::string, std::vector<std::string>>;

/// `name`: the file, for messages. Throws InvalidInput where a line is neither a key nor a value.
SimpleYaml parse_yaml(std::string_view text, const std::string& name);

}  // namespace synthesizer
