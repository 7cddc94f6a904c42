#include "serve/job.h"

namespace synthesizer::serve {

std::string GrowingText::grow(const std::string& text) {
  if (text.size() <= shown_.size() || !text.starts_with(shown_) || text.ends_with("\xEF\xBF\xBD")) return "";
  std::string piece = text.substr(shown_.size());
  shown_ = text;
  return piece;
}

std::string GrowingText::finish(const std::string& text) const {
  return text.starts_with(shown_) ? text.substr(shown_.size()) : "";
}

}  // namespace synthesizer::serve
