#pragma once

#include <functional>
#include <string>
#include <vector>

#include "inspect/inspection.h"
#include "picture/canvas.h"

namespace synthesizer {

/// One picture of an inspection, which must outlive it: its file's name without ending, and what draws it.
struct NamedPicture {
  std::string name;  ///< "encoder-1"
  std::function<std::string(picture::Format)> draw;
};

/// The weights of a layer's heads side by side, a picture per layer; `only`: of that place alone.
std::vector<NamedPicture> map_pictures(const Inspection& inspection,
                                       std::optional<AttentionPlace> only = std::nullopt);
/// A table's heads at the start and at the end, a picture per table.
std::vector<NamedPicture> table_pictures(const Inspection& inspection);
/// Histograms of weights by layer; singular values of the tables; mixture weights over training.
std::vector<NamedPicture> number_pictures(const Inspection& inspection);

}  // namespace synthesizer
