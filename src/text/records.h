#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// The fields of a row of tab-separated values. Quotes mean nothing: the task files that come in this format
/// have single ones in their sentences.
std::vector<std::string_view> split_tabs(std::string_view row);

/// Whether a first row can only be the names of columns: every field is a word that people call columns by
/// ("source", "Sentence 1", "English", "en"), and none comes twice.
bool looks_like_header(const std::vector<std::string_view>& row);

/// The place of each wanted column in a header line. Throws InvalidInput, beginning with `where`, for one
/// that is not there.
std::vector<size_t> find_columns(std::string_view header, const std::vector<std::string>& wanted,
                                 const std::string& where);

/// The values of these keys of a JSON object as text: strings, numbers, true and false. Throws InvalidInput,
/// beginning with `where`, for anything else.
std::vector<std::string> read_json_record(std::string_view text, const std::vector<std::string>& keys,
                                          const std::string& where);

}  // namespace synthesizer
