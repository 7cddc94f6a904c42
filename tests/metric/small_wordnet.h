#pragma once

#include <map>
#include <string>
#include <vector>

#include "text/folder_test.h"

namespace synthesizer::testing {

/// A WordNet of a few words in the format of the real one; NLTK reads it, too.
class SmallWordNet : public FolderTest {
 protected:
  SmallWordNet() {
    write_part("noun", 'n',
               {{"car", "auto", "automobile", "motor_car"},
                {"auto", "racer"},
                {"man", "adult_male"},
                {"cat"},
                {"go", "try"},
                {"Paris", "capital"}},
               "mice mouse\n");
    write_part("verb", 'v', {{"run", "operate"}, {"go", "travel", "move"}, {"try", "attempt"}},
               "ran run\nwent go\n");
    write_part("adj", 'a', {{"glad(p)", "happy", "content"}, {"big", "large"}, {"calm"}}, "bigger big\n");
    write_part("adv", 'r', {{"fast", "quick"}}, "best well\n");
  }

 private:
  void write_part(const std::string& part, char letter, const std::vector<std::vector<std::string>>& meanings,
                  const std::string& exceptions) const {
    std::string data = "  1 licence\n", index = data;
    std::map<std::string, std::vector<std::string>> offsets;
    for (const auto& words : meanings) {
      std::string offset = std::to_string(data.size()), line;
      offset.insert(0, 8 - offset.size(), '0');
      for (const std::string& word : words) {
        line += word + " 0 ";
        std::string entry = word.substr(0, word.find('('));
        for (char& c : entry) c = static_cast<char>(std::tolower(c));
        offsets[entry].push_back(offset);
      }
      data += offset + " 00 " + letter + " 0" + std::to_string(words.size()) + " " + line + "000 | gloss  \n";
    }
    for (const auto& [word, places] : offsets) {
      const std::string count = std::to_string(places.size());
      index += word + " " + letter + " " + count + " 0 " + count + " 0 ";
      for (const std::string& place : places) index += place + " ";
      index += " \n";
    }
    write("data." + part, data);
    write("index." + part, index);
    write(part + ".exc", exceptions);
  }
};

}  // namespace synthesizer::testing
