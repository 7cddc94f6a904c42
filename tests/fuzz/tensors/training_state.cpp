#include "fuzz/memory_file.h"
#include "fuzz/small_models.h"
#include "fuzz/targets.h"
#include "train/checkpoint.h"

namespace synthesizer::fuzz {

void run_training_state(std::string_view input) {
  static const MemoryFile file;
  static const auto model = std::make_shared<StateModel>();
  static const auto optimizer = state_optimizer(*model);
  file.write(input);
  accepted(file.path(), [] { saved_step_batches(file.path()); });
  const auto before = model->weight.clone();
  TrainerState state;
  if (accepted(file.path(), [&] { state = load_state(file.path(), *model, *optimizer); })) {
    if (state.step < 0 || state.tokens < 0) fault("a state before the first step");
  } else if (!at::equal(model->weight.nan_to_num(), before.nan_to_num())) {
    fault("a refused state changed the model");
  }
}

}  // namespace synthesizer::fuzz
