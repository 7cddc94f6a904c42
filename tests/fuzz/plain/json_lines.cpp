#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "text/examples.h"

namespace synthesizer::fuzz {

void run_json_lines(std::string_view input) {
  static const MemoryFile file;
  file.write(input);
  accepted(file.path(), [] {
    Files files;
    files.paths = {file.path()};
    files.format = TextFormat::jsonl;
    files.columns = {"text", "label"};
    ExampleReader reader(files);
    for (std::vector<std::string> fields; reader.next(fields);) {
      if (fields.size() != 2) fault("an example without its two fields");
    }
  });
}

}  // namespace synthesizer::fuzz
