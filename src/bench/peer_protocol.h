#pragma once

#include <torch/nn/module.h>
#include <nlohmann/json_fwd.hpp>

#include <string>
#include <utility>
#include <vector>

#include "bench/step_setting.h"

namespace synthesizer::bench {

/// How `./run bench` compares our program with peers in other processes. With --peer-folder the program
/// writes its weights and tokens to a folder, prints what a peer needs to build the same model, and then
/// answers requests on standard input, one line each.
void write_peer_inputs(const std::string& folder, const torch::nn::Module& model,
                       const std::vector<std::pair<std::string, at::Tensor>>& tokens);
/// The only entry of the list. Throws InvalidInput where there are none or several.
const std::string& single_attention(const std::vector<std::string>& attentions);
nlohmann::json setting_json(const StepSetting& setting, const std::string& attention);

/// Prints one line of JSON and flushes it.
void print_json_line(const nlohmann::json& line);

}  // namespace synthesizer::bench
