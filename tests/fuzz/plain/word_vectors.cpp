#include "metric/word_vectors.h"
#include "fuzz/memory_file.h"
#include "fuzz/targets.h"

namespace synthesizer::fuzz {

void run_word_vectors(std::string_view input) {
  static const MemoryFile file;
  file.write(input);
  accepted(file.path(), [] {
    const WordVectors vectors(file.path(), {"a", "cat", "the", "."});
    if (vectors.mean().size() != vectors.width()) fault("the mean is not as wide as the vectors");
    for (const char* word : {"a", "cat", "the", ".", "dog"}) {
      const auto found = vectors.find(word);
      if (!found.empty() && found.size() != vectors.width()) fault("a vector of another width");
    }
  });
}

}  // namespace synthesizer::fuzz
