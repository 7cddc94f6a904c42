#include "attention/example_variant.h"

#include <ATen/ATen.h>

#include "attention/registry.h"

namespace example {

// What is trained: names, roles, shapes and first values. Counting, saving, initialising and training follow
// from this. The table holds logits: it does not decay, and train.logit_learning_rate applies to it.
std::vector<synthesizer::Parameter> Distance::parameters() const {
  return {{"table", synthesizer::Role::logits, {heads_, 2 * max_length_ - 1}, synthesizer::Init::normal(1)}};
}

// Which logits? Rows [begin, begin + rows) against columns [0, columns), the same for the whole batch.
synthesizer::Logits Distance::logits(const synthesizer::Weights& weights, const at::Tensor&,
                                     const synthesizer::RowRange& range) const {
  const auto table = weights["table"];  // H×(2N-1)
  auto index = [&](const c10::SymInt& n) { return at::arange(n, table.options().dtype(at::kLong)); };
  const auto i = index(range.rows).unsqueeze(1) + range.begin, j = index(range.columns);
  const auto place = (i - j + (max_length_ - 1)).flatten();
  synthesizer::Logits logits;
  logits.table = table.index_select(1, place).view_symint({heads_, range.rows, range.columns});  // H×L×M
  return logits;
}

// An entry's place depends on N: in a larger table the old entries would stand for other distances.
void Distance::prepare_growth(synthesizer::AttentionOptions&) const {
  synthesizer::invalid("distance cannot grow: make a new layer");
}

// Its line in the registry: name, short name, which tokens a row depends on, whether tokens meet, the number
// of parameters as a formula, options of its own, and how it is made.
const bool registered = [] {
  synthesizer::add_variant(
      {"distance", "Dist", synthesizer::Variant::Tokens::none, false, "h(2N-1)", {}, [](const auto& options) {
         return std::make_unique<Distance>(options);
       }});
  return true;
}();

}  // namespace example
