#include <c10/core/GradMode.h>

#include "fuzz/memory_file.h"
#include "fuzz/small_models.h"
#include "fuzz/targets.h"
#include "train/checkpoint.h"

namespace synthesizer::fuzz {

void run_int8_export(std::string_view input) {
  static const MemoryFile file;
  c10::NoGradGuard no_grad;
  file.write(input);
  MapModel model;
  if (!accepted(file.path(), [&] { load_weights(file.path(), model); })) return;
  const auto y = model.map->forward(at::ones({1, 4}));
  if (y.dim() != 2 || y.size(1) != 2) fault("the map has another shape");
}

}  // namespace synthesizer::fuzz
