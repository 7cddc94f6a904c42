#include "attention/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attention/baselines.h"
#include "attention/dense.h"
#include "attention/factorized_dense.h"
#include "attention/factorized_random.h"
#include "attention/random.h"
#include "attention/string_util.h"
#include "attention/vanilla.h"
#include "base/error.h"
#include "base/nearest.h"

namespace synthesizer {
namespace {

using Tokens = Variant::Tokens;

template <class T>
std::unique_ptr<Synthesis> make_synthesis(const AttentionOptions& options) {
  return std::make_unique<T>(options);
}

/// The list itself: add a variant by adding its line.
std::deque<Variant>& registry() {
  static std::deque<Variant> list = {
      {"vanilla", "V", Tokens::all, true, "2d²", Vanilla::options(), make_synthesis<Vanilla>},
      {"dense", "D", Tokens::own, false, "d² + dN", Dense::options(), make_synthesis<Dense>},
      {"random", "R", Tokens::none, false, "hN²", Random::options(), make_synthesis<Random>},
      {"fixed-random", "Fix", Tokens::none, false, "0", Random::options(), make_synthesis<FixedRandom>},
      {"factorized-random", "FR", Tokens::none, false, "2hNk", FactorizedRandom::options(),
       make_synthesis<FactorizedRandom>},
      {"factorized-dense", "FD", Tokens::own, false, "d² + d(a+b)", FactorizedDense::options(),
       make_synthesis<FactorizedDense>},
  };
  return list;
}

const Variant* lookup(std::string_view name) {
  for (const Variant& v : registry()) {
    if (lower(name) == lower(v.name) || lower(name) == lower(v.abbreviation)) return &v;
  }
  return nullptr;
}

}  // namespace

const char* Variant::tokens_name() const {
  switch (tokens) {
    case Tokens::all: return "all";
    case Tokens::own: return "own";
    case Tokens::none: return "none";
  }
  return "";
}

const std::deque<Variant>& variants() {
  return registry();
}

void add_variant(Variant variant) {
  for (const auto& name : {variant.name, variant.abbreviation}) {
    if (lookup(name) || find_baseline(name))
      invalid(fmt::format("a variant named '{}' is registered already", name));
  }
  registry().push_back(std::move(variant));
}

const Variant& find_variant(std::string_view name) {
  if (const Variant* found = lookup(name)) return *found;
  std::vector<std::string> known;
  for (const Variant& v : registry()) {
    known.push_back(v.abbreviation);
    known.push_back(v.name);
  }
  for (const Baseline& baseline : baselines()) known.push_back(baseline.name);
  invalid(fmt::format("unknown attention '{}'{} (known: {})", name, did_you_mean(name, known),
                      fmt::join(known, ", ")));
}

}  // namespace synthesizer
