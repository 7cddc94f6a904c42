#include <torch/nn/module.h>

#include <array>
#include <deque>

#include "base/file.h"
#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "interop/import_model.h"
#include "task/task.h"

namespace synthesizer::fuzz {
namespace {

/// A small model of another program (tests/interop/references). The files that an input may take the place
/// of come first.
struct Kind {
  const char* name;
  size_t changeable;
  std::vector<std::string> files;
};
const std::array kKinds = {
    Kind{"marian",
         4,
         {"config.json", "generation_config.json", "vocab.json", "source.spm", "target.spm",
          "model.safetensors"}},
    Kind{"t5-1.1", 3, {"config.json", "generation_config.json", "spiece.model", "model.safetensors"}},
    Kind{"gpt2",
         4,
         {"config.json", "generation_config.json", "vocab.json", "merges.txt", "model.safetensors"}},
    Kind{"bert", 3, {"config.json", "tokenizer_config.json", "vocab.txt", "model.safetensors"}},
    Kind{"marian-npz", 3, {"decoder.yml", "vocab.yml", "source.spm", "target.spm", "model.npz"}},
};

/// The model's files in memory, with the means to change one and to put it back.
class ModelCopy {
 public:
  explicit ModelCopy(const Kind& kind) : folder_(kind.files) {
    for (const std::string& file : kind.files)
      contents_.push_back(read_file(std::string(MODEL_FOLDERS) + "/" + kind.name + "/" + file));
    for (size_t i = 0; i < contents_.size(); ++i) folder_.write(i, contents_[i]);
  }
  const std::string& path() const { return folder_.path(); }
  void change(size_t file, std::string_view contents) const { folder_.write(file, contents); }
  void restore(size_t file) const { folder_.write(file, contents_[file]); }

 private:
  MemoryFolder folder_;
  std::vector<std::string> contents_;
};

}  // namespace

/// The first byte chooses the model, the second its file, and the rest is what stands in that file.
void run_import(std::string_view input) {
  static const auto models = [] {
    std::deque<ModelCopy> made;
    for (const Kind& kind : kKinds) made.emplace_back(kind);
    return made;
  }();
  if (input.size() < 2) return;
  const size_t kind = static_cast<unsigned char>(input[0]) % kKinds.size();
  const size_t file = static_cast<unsigned char>(input[1]) % kKinds[kind].changeable;
  const ModelCopy& model = models[kind];
  model.change(file, input.substr(2));
  accepted(model.path(), [&] {
    if (import_model({.folder = model.path(), .ignored = {}}) == nullptr) fault("no model was made");
  });
  model.restore(file);
}

}  // namespace synthesizer::fuzz
