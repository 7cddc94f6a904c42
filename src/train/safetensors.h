#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "run/safetensors_header.h"
#include "train/named_tensors.h"

namespace synthesizer {

/// Writes a file that every reader of safetensors opens; names keep the order given, the data of wider dtypes
/// come first so that all are aligned. Tensors of other devices are copied, strided ones made contiguous, one
/// at a time. The file is written whole or not at all (AtomicFile), with a checksum in its metadata
/// (checksum.h). Throws InvalidInput for a name that comes twice and for a tensor the format cannot hold.
void save_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                  const std::map<std::string, std::string>& metadata = {});

/// The same, where the values are made one after another and never all at once. `tensors` need not have
/// values (meta tensors), only dtypes and shapes; `values(i)` gives those of tensor i. It is asked for all of
/// them twice, as the checksum stands before the data; for those of one dtype in the order given.
void save_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                  const std::map<std::string, std::string>& metadata,
                  const std::function<at::Tensor(size_t i)>& values);

/// A safetensors file opened by memory map. Its tensors share the mapping, which lives as long as any of
/// them: loading costs nothing until they are read, and writing into one copies its pages and leaves the file
/// alone. The file must not be changed in place meanwhile; replacing it, as save_tensors does, is fine.
class TensorFile {
 public:
  /// Throws InvalidInput where the file is missing, "… is damaged: …" or "… is not a safetensors file: …".
  explicit TensorFile(const std::string& path);

  /// In the order of the file's header.
  std::vector<std::string> names() const;
  bool has(const std::string& name) const { return places_.contains(name); }
  /// Throws InvalidInput naming file and tensor where there is none of that name.
  at::Tensor tensor(const std::string& name) const;
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  /// Throws InvalidInput where the bytes are not those that save_tensors wrote (checksum.h). Reads all of
  /// them: for who needs the whole file anyway.
  void check_bytes() const;

 private:
  class Mapping;

  std::string path_;
  std::shared_ptr<const Mapping> mapping_;
  TensorHeader header_;
  std::unordered_map<std::string, size_t> places_;  ///< of names in header_.tensors
};

}  // namespace synthesizer
