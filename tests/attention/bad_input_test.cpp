// What cannot be is refused, before anything is computed, in words that name the value and what was allowed.

#include <gmock/gmock.h>

#include "attention/layers.h"
#include "base/error.h"

namespace synthesizer::testing {
namespace {

struct BadInputCase {
  const char* name;
  std::function<void()> mistake;
  std::vector<std::string> words;  ///< that the message must contain
};

AttentionOptions small(const std::string& spec, OptionMap options = {}) {
  return {.attention = spec, .width = 8, .heads = 2, .max_length = 10, .options = std::move(options)};
}

std::function<void()> building(AttentionOptions options) {
  return [options] { Attention layer(options); };
}

std::function<void()> building(const std::string& spec, const std::string& option, OptionValue value) {
  OptionMap map;
  map.set(option, std::move(value));
  return building(small(spec, map));
}

/// Calls both things that take a whole sequence.
std::function<void()> calling(const at::Tensor& x, const at::Tensor& lengths = {}) {
  return [=] { Attention(small("R+V"))->forward(x, lengths); };
}
std::function<void()> looking(const at::Tensor& x, const at::Tensor& lengths = {}, const char* spec = "R+V") {
  return [=] { Attention(small(spec))->weights(x, lengths); };
}

at::Tensor numbers(std::initializer_list<int64_t> list) {
  return at::tensor(at::ArrayRef<int64_t>(list), at::kLong);
}

std::vector<BadInputCase> building_cases() {
  AttentionOptions heads = small("V"), width = small("V"), none = small("V"), length = small("V"),
                   full = small("V"), negative = small("V");
  heads.heads = 3;
  width.width = 0;
  none.heads = 0;
  length.max_length = 0;
  full.dropout = 1.0;
  negative.dropout = -0.1;
  const std::string text = "x";
  return {
      {"width_not_divisible", building(heads), {"width 8", "heads 3"}},
      {"width_zero", building(width), {"width", "0", "at least 1"}},
      {"heads_zero", building(none), {"heads", "0", "at least 1"}},
      {"max_length_zero", building(length), {"max_length", "0", "at least 1"}},
      {"dropout_one", building(full), {"dropout", "1", "below 1"}},
      {"dropout_negative", building(negative), {"dropout", "-0.1", "at least 0"}},
      {"unknown_variant", building(small("vanila")), {"'vanila'", "did you mean 'vanilla'"}},
      {"unknown_member", building(small("R+X")), {"'X'", "known"}},
      {"rank_zero", building("FR", "rank", int64_t{0}), {"rank", "0", "at least 1"}},
      {"rank_negative", building("FR", "rank", int64_t{-1}), {"rank", "-1", "at least 1"}},
      {"rank_text", building("FR", "rank", text), {"rank", "'x'", "a whole number"}},
      {"rank_real", building("FR", "rank", 2.5), {"rank", "2.5", "a whole number"}},
      {"rank_flag", building("FR", "rank", true), {"rank", "true", "a whole number"}},
      {"hidden_negative", building("D", "hidden", int64_t{-1}), {"hidden", "-1", "at least 0"}},
      {"hidden_negative_factorized", building("FD", "hidden", int64_t{-1}), {"hidden", "-1", "at least 0"}},
      {"share_heads_number", building("D", "share_heads", int64_t{3}), {"share_heads", "3", "true or false"}},
      {"a_zero", building("FD", "a", int64_t{0}), {"'a'", "0", "at least 1"}},
      {"b_zero", building("FD", "b", int64_t{0}), {"'b'", "0", "at least 1"}},
      {"a_b_too_small",
       building(small("FD", {{"a", int64_t{3}}, {"b", int64_t{3}}})),
       {"a = 3", "b = 3", "max_length 10"}},
      {"tiling_unknown",
       building("FD", "tiling", std::string("foo")),
       {"tiling", "'foo'", "'outer'", "'tile'"}},
      {"tiling_number", building("FD", "tiling", int64_t{1}), {"tiling", "1"}},
      {"init_std_negative", building("R", "init_std", -0.5), {"init_std", "-0.5", "at least 0"}},
      {"init_std_nan", building("R", "init_std", std::nan("")), {"init_std", "nan"}},
      {"init_std_text", building("Fix", "init_std", text), {"init_std", "'x'", "a number"}},
      {"weights_unknown",
       building("R+V", "weights", std::string("foo")),
       {"weights", "'foo'", "'learned'", "'learned-per-head'", "'sum'"}},
      {"weights_of_one_member",
       building("R", "weights", std::string("sum")),
       {"R", "no option 'weights'", "init_std"}},
      {"option_unknown",
       building("FR", "ranks", int64_t{4}),
       {"FR", "'ranks'", "did you mean 'rank'", "init_std"}},
      {"option_of_another", building("V", "rank", int64_t{4}), {"V", "'rank'", "query_bias"}},
      {"option_of_no_member",
       building("R+V", "share_heads", true),
       {"R+V", "'share_heads'", "init_std, query_bias, weights"}},
  };
}

std::vector<BadInputCase> calling_cases() {
  const auto x = noise({2, 6, 8}, 1);
  std::vector<BadInputCase> cases = {
      {"past_max_length", calling(noise({2, 11, 8}, 1)), {"length 11", "max_length 10"}}};
  const std::tuple<const char*, at::Tensor, at::Tensor, std::vector<std::string>> inputs[] = {
      {"lengths_negative", x, numbers({3, -1}), {"lengths[1]", "-1", "0 to 6"}},
      {"lengths_over", x, numbers({7, 1}), {"lengths[0]", "7", "0 to 6"}},
      {"lengths_too_few", x, numbers({3}), {"lengths", "1", "2"}},
      {"lengths_too_many", x, numbers({3, 3, 3}), {"lengths", "3", "2"}},
      {"lengths_int32", x, numbers({3, 3}).to(at::kInt), {"lengths", "int64", "Int"}},
      {"lengths_float", x, numbers({3, 3}).to(at::kFloat), {"lengths", "int64", "Float"}},
      {"lengths_matrix", x, numbers({3, 3}).view({1, 2}), {"lengths", "1×2"}},
      {"x_without_batch", noise({6, 8}, 1), {}, {"6×8", "batch×length×width", "8"}},
      {"x_with_more", noise({1, 2, 6, 8}, 1), {}, {"1×2×6×8", "batch×length×width"}},
      {"x_too_wide", noise({2, 6, 9}, 1), {}, {"2×6×9", "width 8"}},
      {"x_double", noise({2, 6, 8}, 1, at::kDouble), {}, {"Double", "Float"}},
      {"x_whole_numbers", at::ones({2, 6, 8}, at::kLong), {}, {"Long", "Float"}},
  };
  for (const auto& [name, input, lengths, words] : inputs)
    cases.push_back({name, calling(input, lengths), words});
  return cases;
}

/// weights() takes the same input and must refuse the same.
std::vector<BadInputCase> looking_cases() {
  const auto x = noise({2, 6, 8}, 1), long_x = noise({2, 11, 8}, 1);
  return {
      {"past_max_length", looking(long_x), {"length 11", "max_length 10"}},
      {"past_max_length_vanilla", looking(long_x, {}, "V"), {"length 11", "max_length 10"}},
      {"past_max_length_random", looking(long_x, {}, "R"), {"length 11", "max_length 10"}},
      {"lengths_negative", looking(x, numbers({3, -1})), {"lengths[1]", "-1", "0 to 6"}},
      {"lengths_over", looking(x, numbers({7, 1})), {"lengths[0]", "7", "0 to 6"}},
      {"lengths_too_few", looking(x, numbers({3})), {"lengths", "1", "2"}},
      {"lengths_int32", looking(x, numbers({3, 3}).to(at::kInt)), {"lengths", "int64"}},
      {"x_too_wide", looking(noise({2, 6, 9}, 1)), {"2×6×9", "width 8"}},
  };
}

class BadInput : public ::testing::TestWithParam<BadInputCase> {};

TEST_P(BadInput, is_refused_with_the_value_and_what_was_allowed) {
  try {
    GetParam().mistake();
    FAIL() << "was not refused";
  } catch (const std::invalid_argument& error) {
    for (const auto& word : GetParam().words) EXPECT_THAT(error.what(), ::testing::HasSubstr(word));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line";
  } catch (const std::exception& error) {
    FAIL() << "another kind of error: " << error.what();
  }
}

std::string name_of_mistake(const ::testing::TestParamInfo<BadInputCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Building, BadInput, ::testing::ValuesIn(building_cases()), name_of_mistake);
INSTANTIATE_TEST_SUITE_P(Calling, BadInput, ::testing::ValuesIn(calling_cases()), name_of_mistake);
INSTANTIATE_TEST_SUITE_P(Looking, BadInput, ::testing::ValuesIn(looking_cases()), name_of_mistake);

}  // namespace
}  // namespace synthesizer::testing
