#include "train/safetensors.h"

#include "fuzz/memory_file.h"
#include "fuzz/tensor_use.h"

namespace synthesizer::fuzz {

void run_safetensors(std::string_view input) {
  static const MemoryFile file;
  file.write(input);
  accepted(file.path(), [] {
    const TensorFile tensors(file.path());
    tensors.check_bytes();
    for (const std::string& name : tensors.names()) use_tensor(tensors.tensor(name));
  });
}

}  // namespace synthesizer::fuzz
