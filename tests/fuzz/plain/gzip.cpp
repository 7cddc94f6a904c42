#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace synthesizer::fuzz {

void run_gzip(std::string_view input) {
  static const MemoryFile file;
  file.write(input);
  accepted(file.path(), [] {
    LineReader reader(file.path());
    int64_t lines = 0;
    for (std::string line; reader.next(line);) {
      if (reader.number() != ++lines) fault("lines are not counted from 1");
      if (line.find('\n') != std::string::npos) fault("a line has a line break");
      if (first_invalid_byte(line) != std::string::npos) fault("a line is not UTF-8");
    }
  });
}

}  // namespace synthesizer::fuzz
