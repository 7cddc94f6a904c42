#pragma once

#include <vector>

#include "model/options.h"

namespace synthesizer::testing {

/// How many tokens a small model knows.
inline constexpr int64_t kVocabulary = 11;

/// A small model of that attention: everything in it, nothing large.
inline ModelOptions small_model(const std::string& attention = "V") {
  ModelOptions o;
  o.attention = {attention};
  o.width = 16;
  o.heads = 2;
  o.layers = 2;
  o.feed_forward = 24;
  o.max_length = 12;
  o.dropout = 0;
  return o;
}

/// Every kind of block at least once.
inline std::vector<ModelOptions> kinds_of_models() {
  std::vector<ModelOptions> all;
  for (const char* attention : {"V", "D", "R", "Fix", "FR", "FD", "R+V", "D+V", "D+R"}) {
    all.push_back(small_model(attention));
  }
  for (const PositionKind positions : {PositionKind::learned, PositionKind::relative, PositionKind::none}) {
    all.push_back(small_model("R+V"));
    all.back().positions = positions;
  }
  all.push_back(small_model("R"));
  all.back().positions = PositionKind::relative;
  all.push_back(small_model());
  all.back().norm = NormKind::rms;
  all.back().bias = false;
  all.back().activation = Activation::gated_gelu;
  all.push_back(small_model("D"));
  all.back().norm_place = NormPlace::post;
  all.back().activation = Activation::gelu;
  all.back().tied = false;
  all.push_back(small_model());
  all.back().activation = Activation::gated_relu;
  all.back().attention = {"V", "R"};
  all.push_back(small_model());  // BERT
  all.back().positions = PositionKind::learned;
  all.back().norm_place = NormPlace::post;
  all.back().norm_epsilon = 1e-12;
  all.back().embedding_norm = true;
  all.back().embedding_scale = false;
  all.back().output_bias = true;
  all.back().attention_options.set("query_bias", true);
  all.back().pooling = Pooling::first_tanh;
  all.push_back(small_model("R+V"));  // Marian
  all.back().positions = PositionKind::split_sinusoidal;
  all.back().activation = Activation::swish;
  all.back().output_bias = true;
  all.back().attention_options.set("query_bias", true);
  all.push_back(small_model());  // T5 1.1
  all.back().activation = Activation::gated_gelu_tanh;
  all.push_back(small_model());  // GPT-2
  all.back().activation = Activation::gelu_tanh;
  for (const char* baseline : {"light-conv:3", "dynamic-conv"}) all.push_back(small_model(baseline));
  all.push_back(small_model());
  all.back().attention = {"dynamic-conv:5", "R+V"};
  all.back().positions = PositionKind::relative;
  all.push_back(small_model());
  all.back().encoder_attention = {"linformer:4"};
  for (const PositionKind positions :
       {PositionKind::sinusoidal, PositionKind::learned, PositionKind::relative}) {
    all.push_back(small_model("R+V"));
    all.back().recurrent_depth = 3;
    all.back().positions = positions;
  }
  for (const char* attention : {"R+V", "dynamic-conv"}) {
    all.push_back(small_model(attention));
    all.back().recurrent_depth = 4;
    all.back().halting_threshold = 0.9;
  }
  return all;
}

}  // namespace synthesizer::testing
