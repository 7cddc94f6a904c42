#include "interop/npz.h"

#include "fuzz/memory_file.h"
#include "fuzz/tensor_use.h"

namespace synthesizer::fuzz {

void run_npz(std::string_view input) {
  static const MemoryFile file;
  file.write(input);
  accepted(file.path(), [] { use_tensors(read_npz(file.path())); });
}

}  // namespace synthesizer::fuzz
