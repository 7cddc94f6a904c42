#include "text/sentences.h"

namespace synthesizer {
namespace {

size_t place_to_cut(std::string_view line) {
  const size_t space = line.find_last_of(" \t", Sentences::kLongest - 1);
  if (space != std::string_view::npos) return space + 1;
  size_t cut = Sentences::kLongest;
  while (cut > 1 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) --cut;
  return cut;
}

}  // namespace

void Sentences::add(std::string_view line) {
  while (!line.empty()) {
    const size_t bytes = line.size() > kLongest ? place_to_cut(line) : line.size();
    text_ += line.substr(0, bytes);
    ends_.push_back(text_.size());
    line.remove_prefix(bytes);
  }
}

}  // namespace synthesizer
