#pragma once

#include <string>
#include <vector>

#include "attention/layers.h"

// The baselines that the tests run over: each with its options off their defaults, causal where it can be.
namespace synthesizer::testing {

inline AttentionOptions baseline(const std::string& attention, bool causal = false, OptionMap options = {}) {
  return {.attention = attention,
          .width = 12,
          .heads = 3,
          .max_length = 16,
          .causal = causal,
          .options = std::move(options)};
}

inline std::vector<AttentionOptions> convolutions(bool causal) {
  std::vector<AttentionOptions> all;
  for (const char* name : {"light-conv", "dynamic-conv"}) {
    all.push_back(baseline(name, causal));
    all.push_back(baseline(name, causal, {{"kernel", 1}}));
    all.push_back(baseline(std::string(name) + ":31", causal));  // wider than any sequence
    all.push_back(baseline(name, causal, {{"kernel", 3}}));
    all.back().heads = 1;
    all.back().bias = true;
    all.push_back(baseline(name, causal, {{"kernel", causal ? 4 : 5}}));
    all.back().heads = 12;
    all.push_back(baseline(name, causal, {{"kernel", 3}, {"groups", 6}}));
    all.push_back(baseline(name, causal, {{"kernel", 5}, {"groups", 12}}));  // a kernel for each channel
  }
  return all;
}

inline std::vector<AttentionOptions> all_baselines() {
  auto all = convolutions(false);
  for (const auto& options : convolutions(true)) all.push_back(options);
  all.push_back(baseline("linformer"));  // rank 16, as max_length
  all.push_back(baseline("linformer:1"));
  all.push_back(baseline("linformer", false, {{"rank", 5}, {"share_heads", false}}));
  all.back().bias = true;
  all.push_back(baseline("linformer", false, {{"rank", 5}, {"share_kv", true}}));
  all.back().heads = 1;
  all.push_back(baseline("linformer", false, {{"rank", 4}, {"share_heads", false}, {"share_kv", true}}));
  return all;
}

/// "light_conv_31_causal_h3", with the place in the list, since options don't fit a name.
inline std::string baseline_name(const ::testing::TestParamInfo<AttentionOptions>& info) {
  return test_name(info.param.attention) + (info.param.causal ? "_causal" : "") + "_" +
         std::to_string(info.index);
}

}  // namespace synthesizer::testing
