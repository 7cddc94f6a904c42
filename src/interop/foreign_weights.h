#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace synthesizer {

/// The tensors of another program's model file, by their names there. Each is marked as it is taken, so that
/// none is forgotten without a word.
class ForeignWeights {
 public:
  /// From model.safetensors, pytorch_model.bin or model.npz, or from the several files of one model. Throws
  /// InvalidInput where a file is missing, damaged or more than weights.
  static ForeignWeights load(const std::vector<std::string>& files);

  bool has(const std::string& name) const { return tensors_.contains(name); }
  /// Throws InvalidInput where there is none of that name.
  std::vector<int64_t> shape(const std::string& name) const { return find(name).sizes().vec(); }
  /// As float32. Throws InvalidInput, with the file, where there is none of that name or it holds no numbers
  /// with a fraction.
  at::Tensor take(const std::string& name);
  /// The bytes of a tensor of int8 (Marian keeps its settings in one). Throws as take() does.
  std::string take_bytes(const std::string& name);
  /// Marks a tensor as one that is not needed; there need not be one.
  void skip(const std::string& name) { taken_.insert(name); }

  std::vector<std::string> left_over() const;  ///< names that nobody took
  const std::string& file() const { return file_; }

 private:
  const at::Tensor& find(const std::string& name) const;

  std::string file_;  ///< the first one, for messages
  std::map<std::string, at::Tensor> tensors_;
  std::set<std::string> taken_;
};

/// The files of a Hugging Face folder's weights: model.safetensors or pytorch_model.bin, or the parts that
/// their index file lists. Throws InvalidInput where there are none.
std::vector<std::string> weight_files(const std::string& folder);

}  // namespace synthesizer
