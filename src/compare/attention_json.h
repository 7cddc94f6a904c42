#pragma once

#include <nlohmann/json_fwd.hpp>

namespace synthesizer {

struct Inspection;

/// What was seen in a run as the page takes it (docs/report-data.md): a list of layers, the weights of the
/// mixtures over training, and how far the tables moved.
nlohmann::json attention_json(const Inspection& inspection);
nlohmann::json mixture_json(const Inspection& inspection);
nlohmann::json tables_json(const Inspection& inspection);

}  // namespace synthesizer
