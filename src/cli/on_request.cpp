#include "cli/on_request.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "base/error.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"

namespace synthesizer::cli {

void leave_for_peers(const std::string& folder, const torch::nn::Module& model,
                     const std::vector<std::pair<std::string, at::Tensor>>& tokens) {
  std::filesystem::create_directories(folder);
  save_weights(folder + "/model.safetensors", model, 0);
  NamedTensors all;
  for (const auto& [name, tensor] : tokens) all.push_back({name, tensor});
  save_tensors(folder + "/tokens.safetensors", all);
}

const std::string& only_attention(const std::vector<std::string>& attentions) {
  if (attentions.size() != 1) invalid("--on-request is for one attention: name it with --attention");
  return attentions.front();
}

nlohmann::json facts_of(const StepSetting& s, const std::string& attention) {
  return {{"setting", s.name},
          {"task", s.task},
          {"about", s.about},
          {"attention", attention},
          {"precision", s.train.precision},
          {"threads", at::get_num_threads()},
          {"vocabulary", s.vocabulary},
          {"batch", s.batch},
          {"length", s.length},
          {"width", s.model.width},
          {"heads", s.model.heads},
          {"layers", s.model.layers},
          {"feed_forward", s.model.feed_forward},
          {"max_length", s.model.max_length},
          {"activation", s.model.activation},
          {"dropout", s.model.dropout}};
}

void say(const nlohmann::json& line) {
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

}  // namespace synthesizer::cli
