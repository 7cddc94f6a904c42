#pragma once

#include <torch/nn/module.h>
#include <nlohmann/json_fwd.hpp>

#include <string>
#include <utility>
#include <vector>

#include "cli/step_setting.h"

namespace synthesizer::cli {

/// How a contender of ours stands beside peers in other processes (./run bench): it leaves weights and tokens
/// where they find them, says what they have to know to build the same model, and answers line by line.
void leave_for_peers(const std::string& folder, const torch::nn::Module& model,
                     const std::vector<std::pair<std::string, at::Tensor>>& tokens);
/// Of the attentions given, the one to run on request. Throws InvalidInput where there are none or several.
const std::string& only_attention(const std::vector<std::string>& attentions);
nlohmann::json facts_of(const StepSetting& setting, const std::string& attention);

/// One line of JSON, at once.
void say(const nlohmann::json& line);

}  // namespace synthesizer::cli
