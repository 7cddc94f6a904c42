#include "interop/foreign_weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/nearest.h"
#include "interop/foreign_files.h"
#include "interop/npz.h"
#include "interop/torch_file.h"
#include "train/safetensors.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

void add_file(const std::string& path, std::map<std::string, at::Tensor>& tensors) {
  auto add = [&](const std::string& name, const at::Tensor& tensor) {
    if (!tensors.emplace(name, tensor).second)
      invalid(fmt::format("{} has a tensor '{}' for the second time", path, shortened(name)));
  };
  refuse_lfs_pointer(path);
  if (path.ends_with(".safetensors")) {
    const TensorFile file(path);
    for (const std::string& name : file.names()) add(name, file.tensor(name));
  } else {
    const auto read = path.ends_with(".npz") ? read_npz(path) : read_torch_file(path);
    for (const NamedTensor& one : read) add(one.name, one.tensor);
  }
}

/// The different files of {"weight_map": {tensor: file}}.
std::vector<std::string> indexed_files(const std::string& folder, const std::string& index) {
  const auto parsed = read_json_object(index);
  const auto where = parsed.find("weight_map");
  const auto is_text = [](const auto& file) { return file.is_string(); };
  if (where == parsed.end() || !where->is_object() || where->empty() ||
      !std::all_of(where->begin(), where->end(), is_text)) {
    invalid(fmt::format("{} is damaged: it does not say which file has which tensor", index));
  }
  const std::set<std::string> names(where->begin(), where->end());
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (fs::path(name).filename() != name)
      invalid(fmt::format("{} names '{}', which is not a file of this folder", index, shortened(name)));
    files.push_back(folder + "/" + name);
  }
  return files;
}

}  // namespace

std::vector<std::string> weight_files(const std::string& folder) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const std::string path = folder + "/" + name, index = path + ".index.json";
    if (fs::exists(path)) return {path};
    if (fs::exists(index)) return indexed_files(folder, index);
  }
  invalid(fmt::format("{} has no weights: model.safetensors or pytorch_model.bin", folder));
}

ForeignWeights ForeignWeights::load(const std::vector<std::string>& files) {
  ForeignWeights weights;
  weights.file_ = files.at(0);
  for (const std::string& file : files) add_file(file, weights.tensors_);
  return weights;
}

const at::Tensor& ForeignWeights::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [other, tensor] : tensors_) names.push_back(other);
  invalid(fmt::format("{} has no tensor '{}'{}", file_, name, did_you_mean(name, names)));
}

at::Tensor ForeignWeights::take(const std::string& name) {
  const at::Tensor& tensor = find(name);
  if (!at::isFloatingType(tensor.scalar_type())) {
    invalid(fmt::format("{}: tensor '{}' has {} where numbers with a fraction are expected", file_, name,
                        c10::toString(tensor.scalar_type())));
  }
  taken_.insert(name);
  return tensor.to(at::kFloat);
}

std::string ForeignWeights::take_bytes(const std::string& name) {
  const at::Tensor& tensor = find(name);
  if (tensor.element_size() != 1) invalid(fmt::format("{}: tensor '{}' is not text", file_, name));
  taken_.insert(name);
  const auto plain = tensor.contiguous();
  return {static_cast<const char*>(plain.const_data_ptr()), plain.nbytes()};
}

std::vector<std::string> ForeignWeights::left_over() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) {
    if (!taken_.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace synthesizer
