#include "model/look.h"

namespace synthesizer {
namespace {
thread_local Viewer current_viewer;
}

Viewing::Viewing(Viewer viewer) : before_(std::move(current_viewer)) {
  current_viewer = std::move(viewer);
}
Viewing::~Viewing() {
  current_viewer = std::move(before_);
}

bool viewed() {
  return static_cast<bool>(current_viewer);
}
void show(const Sight& sight) {
  if (current_viewer) current_viewer(sight);
}

}  // namespace synthesizer
