#include "run/safetensors_header.h"
#include "fuzz/targets.h"
#include "run/parameter_count.h"

namespace synthesizer::fuzz {

void run_safetensors_header(std::string_view input) {
  TensorHeader header;
  if (!accepted("file", [&] { header = parse_tensor_header("file", input); })) return;
  for (const TensorEntry& tensor : header.tensors) {
    if (tensor.begin > tensor.end || header.data + tensor.end > input.size())
      fault("a tensor outside of the file");
  }
  count_parameters(header);
  // Written and read again it says the same.
  const std::string data(input.size() - header.data, '\0');
  const std::string again = write_tensor_header(header.tensors, header.metadata) + data;
  const TensorHeader second = parse_tensor_header("file", again);
  if (second.metadata != header.metadata || second.tensors.size() != header.tensors.size())
    fault("reading it again gives another header");
}

}  // namespace synthesizer::fuzz
