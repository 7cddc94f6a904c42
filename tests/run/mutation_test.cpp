// Whatever a damaged file of a run says, its parser answers or throws InvalidInput; it does no more.

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "base/error.h"
#include "run/metrics_log.h"
#include "run/provenance.h"
#include "run/safetensors_header.h"
#include "run/settings.h"

namespace synthesizer {
namespace {

/// The text with one to three changes: a byte, a cut, an insertion, a deletion, a stretch repeated.
std::string changed_at_random(std::string text, std::mt19937& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (size_t times = 1 + below(3); times > 0 && !text.empty(); --times) {
    const size_t place = below(text.size());
    switch (below(5)) {
      case 0: text[place] = static_cast<char>(random()); break;
      case 1: text.resize(place); break;
      case 2: text.insert(place, 1, "0123456789{}[]:,\" -e.\n\\tn="[below(26)]); break;
      case 3: text.erase(place, 1 + below(8)); break;
      default: text.insert(place, text.substr(place, 1 + below(40)));
    }
  }
  return text;
}

/// How many of the changed texts were refused.
int refused(const std::string& text, const std::function<void(const std::string&)>& parse) {
  constexpr int kTexts = 4000;
  std::mt19937 random(1);
  int count = 0;
  for (int i = 0; i < kTexts; ++i) {
    const std::string changed = changed_at_random(text, random);
    try {
      parse(changed);
    } catch (const InvalidInput& error) {
      ++count;
      EXPECT_EQ(std::string(error.what()).rfind("x", 0), 0u) << "the file is named first: " << error.what();
    }
  }
  EXPECT_LT(count, kTexts) << "some changes are no damage";
  return count;
}

TEST(MutatedFiles, OfMetricsAreReadOrRefused) {
  const std::string text =
      "{\"step\":10,\"split\":\"train\",\"loss\":3.5,\"seconds\":4.5}\n"
      "{\"step\":10,\"split\":\"mixture\",\"encoder.layers.0\":[[0.5,0.5],[1,null]]}\n"
      "{\"step\":20,\"split\":\"dev\",\"loss\":null,\"bleu\":11}\n";
  EXPECT_GT(refused(text, [](const std::string& changed) { parse_metrics("x", changed); }), 100);
  EXPECT_GT(refused(text, [](const std::string& changed) { metrics_until("x", changed, 10); }), 100);
}

TEST(MutatedFiles, OfProvenanceAreReadOrRefused) {
  const std::string text =
      R"({"command":["synth","train"],"version":"1","threads":2,"cores":4,"memory_bytes":8,)"
      R"("data":{"/a.en":"00ff"},"made_from":{"by":"grow","run":"a"},"parameter_groups":[{"name":"x"}]})";
  EXPECT_GT(refused(text, [](const std::string& changed) { parse_provenance("x", changed); }), 100);
}

TEST(MutatedFiles, OfSettingsAreReadOrRefused) {
  const std::string text =
      "task = \"translation\"\nseed = 1\n[model]\nattention = [\"V\", \"R\"]\noptions = { rank = 8 }\n"
      "[train]\nlearning_rate = 1e-4\nbias = true\n";
  EXPECT_GT(refused(text, [](const std::string& changed) { parse_settings("x", changed); }), 100);
}

TEST(MutatedFiles, OfTensorsAreReadOrRefused) {
  const std::string text =
      write_tensor_header({{"a", "F32", {2, 3}, 0, 24}, {"b", "BOOL", {4}, 24, 28}}, {{"step", "12"}}) +
      std::string(28, '\1');
  EXPECT_GT(refused(text, [](const std::string& changed) { parse_tensor_header("x", changed); }), 100);
}

}  // namespace
}  // namespace synthesizer
