#include "bench/peer_protocol.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "base/error.h"
#include "base/output.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"

namespace synthesizer::bench {

void write_peer_inputs(const std::string& folder, const torch::nn::Module& model,
                       const std::vector<std::pair<std::string, at::Tensor>>& tokens) {
  std::filesystem::create_directories(folder);
  save_weights(folder + "/model.safetensors", model, 0);
  NamedTensors all;
  for (const auto& [name, tensor] : tokens) all.push_back({name, tensor});
  save_tensors(folder + "/tokens.safetensors", all);
}

const std::string& single_attention(const std::vector<std::string>& attentions) {
  if (attentions.size() != 1) invalid("--peer-folder is for one attention: name it with --attention");
  return attentions.front();
}

nlohmann::json setting_json(const StepSetting& s, const std::string& attention) {
  return {{"setting", s.name},
          {"task", s.task},
          {"about", s.about},
          {"attention", attention},
          {"precision", choice_name(s.train.precision)},
          {"threads", at::get_num_threads()},
          {"vocabulary", s.vocabulary},
          {"batch", s.batch},
          {"length", s.length},
          {"width", s.model.width},
          {"heads", s.model.heads},
          {"layers", s.model.layers},
          {"feed_forward", s.model.feed_forward},
          {"max_length", s.model.max_length},
          {"activation", choice_name(s.model.activation)},
          {"dropout", s.model.dropout}};
}

void print_json_line(const nlohmann::json& line) {
  write_output(line.dump() + "\n");
  flush_output();
}

}  // namespace synthesizer::bench
