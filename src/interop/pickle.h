#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace synthesizer::pickle {

/// A pickle is a program for a small machine that may call any function of Python. This machine has no
/// functions: it builds plain values, and knows by name the few constructors that a file of PyTorch weights
/// uses. Everything else is refused with its name; nothing is ever run.

struct Value;
using ValuePtr = Value*;  ///< of a Document, which owns it

struct None {};
struct Global {
  std::string name;  ///< "torch.FloatStorage"
};
using List = std::vector<ValuePtr>;
struct Tuple {
  List items;
};
struct Dict {
  std::vector<std::pair<ValuePtr, ValuePtr>> items;
};
// What a text or a tuple is told of once may be referred to many times, so these refer to it too.
struct Storage {
  std::string_view key, type;  ///< "0", "FloatStorage"
};
struct TensorCall {
  Storage storage;
  int64_t offset = 0;
  const Tuple *shape = nullptr, *stride = nullptr;
};
struct Value {
  std::variant<None, bool, int64_t, double, std::string, List, Tuple, Dict, Global, Storage, TensorCall> held;
};

/// All values of a pickle. They may refer to each other in any way, circles included.
struct Document {
  std::deque<Value> values;
  ValuePtr root = nullptr;
};

/// Reads one pickle from the begin of `bytes` and takes it off. `name`: the file, for messages. Throws
/// InvalidInput where it is cut off, damaged, wants something that is not on the list, or has more operations
/// than any model of our families.
Document read(std::string_view& bytes, const std::string& name);

/// A tensor as `torch._utils._rebuild_tensor_v2` is told it. The texts are those of the document.
struct SavedTensor {
  std::string_view name;
  std::string_view storage;  ///< its key in the file
  std::string_view type;     ///< "FloatStorage"
  int64_t offset = 0;        ///< of the first element, in elements
  std::vector<int64_t> shape, stride;
};

/// The tensors of a state dict. Throws InvalidInput where the value is not one, or has a name twice.
std::vector<SavedTensor> state_dict(const Value& value, const std::string& name);

/// The list of text in a value, which are those of the document; for the keys of storages. Throws
/// InvalidInput where it is not one.
std::vector<std::string_view> texts(const Value& value, const std::string& name);

}  // namespace synthesizer::pickle
