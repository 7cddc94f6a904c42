#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "run/safetensors_header.h"

namespace synthesizer::testing {

/// A folder for one test, and the files of a run in it.
class RunFiles : public ::testing::Test {
 protected:
  RunFiles() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::temp_directory_path() /
            (std::string("run_") + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~RunFiles() override { std::filesystem::remove_all(root_); }

  std::string write(const std::string& name, const std::string& text) const {
    const auto path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  /// The bytes of a safetensors file of zeros: tensors by name and shape.
  static std::string weights(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors) {
    std::vector<TensorEntry> entries;
    uint64_t end = 0;
    for (const auto& [name, shape] : tensors) {
      uint64_t bytes = 4;
      for (const int64_t size : shape) bytes *= static_cast<uint64_t>(size);
      entries.push_back({name, "F32", shape, end, end + bytes});
      end += bytes;
    }
    return write_tensor_header(entries, {{"step", "20"}}) + std::string(end, '\0');
  }

  /// A whole run: 20 steps of 20, validated twice.
  std::string write_run(const std::string& name, const std::string& attention,
                        const std::string& task = "translation", const std::string& hash = "aa",
                        const std::string& more = "") const {
    write(name + "/config.toml",
          "task = \"" + task + "\"\nseed = 1\n\n[data]\ntrain = [\"a.en\", \"a.de\"]\n\n" +
              "[model]\nattention = " + attention +
              "\nencoder_attention = []\ndecoder_attention = []\noptions = {}\nwidth = 128\n" + more +
              "\n[train]\nsteps = 20\nwatch = \"loss\"\npatience = 0\n");
    write(name + "/metrics.jsonl",
          "{\"step\":10,\"split\":\"train\",\"loss\":3.5,\"tokens_per_second\":100,\"seconds\":4.5}\n"
          "{\"step\":10,\"split\":\"dev\",\"loss\":3.0,\"bleu\":11}\n"
          "{\"step\":20,\"split\":\"train\",\"loss\":2.5,\"tokens_per_second\":300,\"seconds\":9}\n"
          "{\"step\":20,\"split\":\"dev\",\"loss\":3.25,\"bleu\":12}\n");
    write(name + "/run.json",
          R"({"command":["synth","train","recipes/translation/wmt14-en-de.toml"],"version":"1",)"
          R"("processor":"a chip","threads":2,"data":{"/there/)" +
              name + R"(/a.en":")" + hash + R"(","/there/a.de":"bb"}})");
    return (root_ / name).string();
  }

  std::filesystem::path root_;
};

}  // namespace synthesizer::testing
