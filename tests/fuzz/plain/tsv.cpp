#include <algorithm>

#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "text/examples.h"

namespace synthesizer::fuzz {

/// Its first byte says whether columns are named (odd) or the table has no header.
void run_tsv(std::string_view input) {
  static const MemoryFile file;
  const bool named = !input.empty() && input[0] % 2 != 0;
  file.write(input.substr(std::min<size_t>(1, input.size())));
  accepted(file.path(), [&] {
    Files files;
    files.paths = {file.path()};
    files.format = TextFormat::tsv;
    if (named) files.columns = {"text", "label"};
    ExampleReader reader(files);
    const size_t width = reader.fields();
    for (std::vector<std::string> fields; reader.next(fields);) {
      if (fields.size() != width) fault("rows differ in the number of their fields");
    }
  });
}

}  // namespace synthesizer::fuzz
