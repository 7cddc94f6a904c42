#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/mapped_file.h"

namespace synthesizer {

/// The synonyms of English words from WordNet's database files (Debian's wordnet-base has version 3.0), found
/// as NLTK finds them: a word is looked up as noun, verb, adjective and adverb, both as it is and in its base
/// form, which is the one of the lists of exceptions or else what the rules for suffixes make of it.
class WordNet {
 public:
  static constexpr const char* kDebianFolder = "/usr/share/wordnet";

  /// The folder of index.noun, data.noun, noun.exc and so on. Throws InvalidInput where one is missing.
  explicit WordNet(const std::string& folder);

  /// The words, capitals kept, of all meanings of a word in small letters; itself among them where WordNet
  /// has it, some repeatedly. Names of several words (joined by _) are left out.
  std::vector<std::string_view> synonyms(const std::string& word) const;

 private:
  /// One part of speech.
  struct PartOfSpeech {
    PartOfSpeech(const std::string& folder, const std::string& name);

    std::vector<std::string> base_forms(const std::string& word) const;
    void add_words(std::string_view offset, std::vector<std::string_view>& words) const;

    std::string name, data_path;
    MappedFile index_file, data_file;
    std::unordered_map<std::string_view, std::string_view> index;  ///< a word, and the rest of its line
    std::unordered_map<std::string, std::vector<std::string>> exceptions;
  };

  std::vector<PartOfSpeech> parts_;
};

}  // namespace synthesizer
