#pragma once

#include <string>
#include <vector>

namespace synthesizer {

/// A text with fields in it: "question: {question} context: {passage}". Braces themselves are "{{" and "}}".
class TextTemplate {
 public:
  /// Throws InvalidInput where a brace is not closed or opened, or where there is no field at all. `what` is
  /// what messages call it ("source").
  TextTemplate(const std::string& text, const std::string& what);

  const std::vector<std::string>& fields() const { return fields_; }  ///< in their order, repeated ones too
  /// The text with these values, one per field.
  std::string filled(const std::string* values) const;

 private:
  std::vector<std::string> pieces_{""};  // around the fields, one more than these
  std::vector<std::string> fields_;
};

}  // namespace synthesizer
