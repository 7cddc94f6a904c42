#include "model/look.h"

namespace synthesizer {
namespace {
thread_local Viewer current;
}

Viewing::Viewing(Viewer viewer) : before_(std::move(current)) {
  current = std::move(viewer);
}
Viewing::~Viewing() {
  current = std::move(before_);
}

bool viewed() {
  return static_cast<bool>(current);
}
void show(const Sight& sight) {
  if (current) current(sight);
}

}  // namespace synthesizer
