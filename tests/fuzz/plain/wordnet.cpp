#include "metric/wordnet.h"
#include "fuzz/memory_file.h"
#include "fuzz/targets.h"

namespace synthesizer::fuzz {

/// Three files, of nouns; the other parts of speech are the same three.
void run_wordnet(std::string_view input) {
  static const MemoryFolder folder(
      {"index.noun", "data.noun", "noun.exc", "index.verb", "data.verb", "verb.exc", "index.adj", "data.adj",
       "adj.exc", "index.adv", "data.adv", "adv.exc"},
      3);
  const auto parts = parts_of(input, 3);
  for (size_t i = 0; i < 3; ++i) folder.write(i, parts[i]);
  accepted(folder.path(), [] {
    const WordNet wordnet(folder.path());
    for (const char* word : {"cat", "cats", "men", "a", "running"}) wordnet.synonyms(word);
  });
}

}  // namespace synthesizer::fuzz
