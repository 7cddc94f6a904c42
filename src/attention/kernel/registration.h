#pragma once

#include <torch/library.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace synthesizer::kernel {

/// Operators of namespace synthesizer, registered for as long as this lives.
///
/// A process can hold this code more than once: two extensions that both link the static library. The copy
/// that is loaded first registers the operators; the others register nothing and use those. So whoever
/// unloads a library with dlclose unloads the first one last.
class Registration {
 public:
  using Kernels = void (*)(torch::Library&);

  /// `name`: one of the operators that `schemas` defines.
  Registration(const char* name, Kernels schemas,
               std::initializer_list<std::pair<c10::DispatchKey, Kernels>> kernels) {
    if (c10::Dispatcher::singleton().findSchema({name, ""})) return;
    schemas(parts_.emplace_back(torch::Library::FRAGMENT, "synthesizer", std::nullopt, __FILE__, __LINE__));
    for (const auto& [key, add] : kernels)
      add(parts_.emplace_back(torch::Library::IMPL, "synthesizer", key, __FILE__, __LINE__));
  }

 private:
  std::vector<torch::Library> parts_;
};

}  // namespace synthesizer::kernel
