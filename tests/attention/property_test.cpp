// Properties that hold for any spec and any shape, tried on random ones.

#include <rapidcheck/gtest.h>

#include "attention/layers.h"
#include "attention/reference.h"
#include "attention/registry.h"
#include "attention/spec.h"

namespace synthesizer::testing {
namespace {

/// Any members of the registry, at least one, in any order.
std::vector<const Variant*> any_members() {
  std::vector<const Variant*> all;
  for (const Variant& variant : variants()) all.push_back(&variant);
  for (size_t i = all.size() - 1; i > 0; --i) std::swap(all[i], all[*rc::gen::inRange<size_t>(0, i + 1)]);
  all.resize(*rc::gen::inRange<size_t>(1, all.size() + 1));
  return all;
}

RC_GTEST_PROP(Property, a_spec_reads_back_as_itself, ()) {
  const auto members = any_members();
  RC_ASSERT(parse_spec(short_spec(members)) == members);
  std::string spelled;
  for (const Variant* member : members) {
    std::string word = *rc::gen::arbitrary<bool>() ? member->name : member->abbreviation;
    for (char& c : word)
      c = static_cast<char>(*rc::gen::arbitrary<bool>() ? std::toupper(c) : std::tolower(c));
    spelled += (spelled.empty() ? "" : *rc::gen::element<std::string>("+", " + ", "+ ")) + word;
  }
  RC_LOG() << spelled;
  RC_ASSERT(parse_spec(spelled) == members);
}

RC_GTEST_PROP(Property, text_that_is_no_spec_is_refused_and_never_anything_else, (const std::string& text)) {
  try {
    RC_ASSERT(!parse_spec(text).empty());
  } catch (const std::invalid_argument&) {
  }
}

RC_GTEST_PROP(Property, any_layer_gives_what_the_reference_gives, ()) {
  const int64_t heads = *rc::gen::inRange(1, 4), width = heads * *rc::gen::inRange(1, 6);
  const int64_t max_length = *rc::gen::inRange(1, 40), length = *rc::gen::inRange<int64_t>(1, max_length + 1);
  const int64_t batch = *rc::gen::inRange(1, 4);
  AttentionOptions options{.attention = short_spec(any_members()),
                           .width = width,
                           .heads = heads,
                           .max_length = max_length,
                           .causal = *rc::gen::arbitrary<bool>(),
                           .bias = *rc::gen::arbitrary<bool>()};
  if (options.attention.find('+') != std::string::npos) {
    options.options.set("weights", *rc::gen::element<std::string>("learned", "learned-per-head", "sum"));
  }
  auto lengths = at::Tensor();
  if (*rc::gen::arbitrary<bool>()) {
    lengths = at::empty({batch}, at::kLong);
    for (int64_t b = 0; b < batch; ++b) lengths[b] = *rc::gen::inRange<int64_t>(0, length + 1);
  }
  RC_LOG() << options.attention << ", " << batch << " of " << length << " up to " << max_length << ", "
           << heads << " heads of " << width / heads << (options.causal ? ", causal" : "");
  auto layer = make_layer(options, *rc::gen::inRange<uint64_t>(0, 1000));
  const auto x = noise({batch, length, width}, *rc::gen::inRange<uint64_t>(0, 1000));
  const auto y = layer->forward(x, lengths);
  RC_ASSERT(y.isfinite().all().item<bool>());
  RC_ASSERT(static_cast<bool>(close(y, reference(layer, x, lengths).output, 2e-5)));
  torch::NoGradGuard no_grad;
  layer->eval();
  RC_ASSERT(static_cast<bool>(close(layer->forward(x, lengths), y, 1e-5)));
}

RC_GTEST_PROP(Property, any_causal_layer_decodes_what_it_computes, ()) {
  const int64_t heads = *rc::gen::inRange(1, 4), width = heads * *rc::gen::inRange(1, 6);
  const int64_t max_length = *rc::gen::inRange(1, 50), length = *rc::gen::inRange<int64_t>(1, max_length + 1);
  auto layer = make_layer({.attention = short_spec(any_members()),
                           .width = width,
                           .heads = heads,
                           .max_length = max_length,
                           .causal = true});
  RC_LOG() << layer->options().attention << ", " << length << " up to " << max_length;
  const auto x = noise({2, length, width}, 3), whole = layer->forward(x);
  State state = layer->start(2);
  for (int64_t t = 0; t < length; ++t) {
    RC_ASSERT(static_cast<bool>(close(layer->step(x.select(1, t), state), whole.select(1, t), 1e-5, 1)));
  }
}

}  // namespace
}  // namespace synthesizer::testing
