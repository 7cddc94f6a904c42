#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace synthesizer::serve {

/// The fields of a body of type application/x-www-form-urlencoded, each a string; one that occurs several
/// times is a list of strings. Throws ApiError (400) where the result is not UTF-8.
nlohmann::json form_fields(const std::string& body);

}  // namespace synthesizer::serve
