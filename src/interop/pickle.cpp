#include "interop/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "interop/foreign_files.h"

namespace synthesizer::pickle {
namespace {

/// What a file of weights may name. A storage type is a constant; the others are constructors.
constexpr std::string_view kStorageModule = "torch.";
constexpr std::string_view kStorageEnding = "Storage";
constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";

// Every operation makes or refers to at most one value; a state dict takes some 30 for each tensor. With this
// limit a file of single operations does not take more than a few ten megabytes.
constexpr size_t kMostOperations = 400'000;
constexpr size_t kMostTensors = 20'000;

bool is_storage(std::string_view name) {
  return name.starts_with(kStorageModule) && name.ends_with(kStorageEnding) &&
         name.find('.', kStorageModule.size()) == std::string_view::npos;
}

class Machine {
 public:
  Machine(std::string_view& bytes, const std::string& name) : rest_(bytes), name_(name) {}

  Document run() {
    for (size_t operations = 0; operations < kMostOperations; ++operations) {
      const auto code = static_cast<unsigned char>(take(1)[0]);
      if (code == '.') {
        document_.root = pop();
        return std::move(document_);
      }
      step(code);
    }
    damaged("its pickle has more operations than weights need");
  }

 private:
  [[noreturn]] void damaged(const std::string& why) const {
    invalid(fmt::format("{} is damaged: {}", name_, why));
  }

  template <typename T>
  ValuePtr make(T value) {
    return &document_.values.emplace_back(Value{std::move(value)});
  }

  std::string_view take(uint64_t count) {
    if (count > rest_.size()) damaged("it is cut off");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view line() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) damaged("it is cut off");
    const auto text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void push(ValuePtr value) { stack_.push_back(value); }
  ValuePtr pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) damaged("its pickle takes what is not there");
    const ValuePtr value = stack_.back();
    stack_.pop_back();
    return value;
  }
  ValuePtr& top() {
    if (stack_.empty()) damaged("its pickle takes what is not there");
    return stack_.back();
  }
  /// Everything since the last mark.
  List pop_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) damaged("its pickle takes what is not there");
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    List items(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return items;
  }
  template <typename T>
  T& as(const ValuePtr& value, const char* what) {
    if (auto* held = std::get_if<T>(&value->held)) return *held;
    damaged(fmt::format("its pickle has something else where {} should be", what));
  }

  int64_t integer(const ValuePtr& value) { return as<int64_t>(value, "a number"); }

  void name_global(const std::string& name) {
    if (name != kOrderedDict && name != kRebuildTensor && name != kRebuildParameter && !is_storage(name)) {
      invalid(
          fmt::format("{} wants to call '{}': it is not a file of weights alone, and nothing in it was run; "
                      "take a model.safetensors instead",
                      name_, shortened(name)));
    }
    push(make(Global{name}));
  }

  void call() {
    const List& arguments = as<Tuple>(pop(), "arguments").items;
    const std::string& name = as<Global>(pop(), "a constructor").name;
    if (name == kOrderedDict) {
      if (!arguments.empty()) damaged("it fills a dictionary in a way that PyTorch does not");
      push(make(Dict{}));
    } else if (name == kRebuildParameter && !arguments.empty()) {
      push(arguments[0]);
    } else if (name == kRebuildTensor && arguments.size() >= 4) {
      push(make(TensorCall{as<Storage>(arguments[0], "a storage"), integer(arguments[1]),
                           &as<Tuple>(arguments[2], "a shape"), &as<Tuple>(arguments[3], "a shape")}));
    } else {
      damaged(fmt::format("it calls '{}' in a way that PyTorch does not", shortened(name)));
    }
  }

  /// ("storage", type, key, device, elements[, view])
  void load_storage() {
    const List& id = as<Tuple>(pop(), "a storage").items;
    if (id.size() < 5 || as<std::string>(id[0], "text") != "storage")
      damaged("it refers to something that is not a storage");
    if (id.size() > 5 && !std::holds_alternative<None>(id[5]->held))
      damaged("it has a storage that is a part of another one");
    std::string_view type = as<Global>(id[1], "a type").name;
    if (!is_storage(type)) damaged("it refers to something that is not a storage");
    type.remove_prefix(kStorageModule.size());
    push(make(Storage{as<std::string>(id[2], "text"), type}));
  }

  void set_items(const List& items) {
    if (items.size() % 2 != 0) damaged("a key has no value");
    auto& dict = as<Dict>(top(), "a dictionary");
    for (size_t n = 0; n < items.size(); n += 2) dict.items.emplace_back(items[n], items[n + 1]);
  }

  void remember(uint64_t number) { memo_[number] = top(); }
  void recall(uint64_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) damaged("its pickle takes what is not there");
    push(found->second);
  }
  void tuple(size_t count) {
    Tuple made;
    made.items.resize(count);
    for (size_t n = count; n-- > 0;) made.items[n] = pop();
    push(make(std::move(made)));
  }
  /// LONG1: a number of so many bytes, little-endian, two's complement; what is wider is PyTorch's magic.
  void long_integer() {
    const auto bytes = take(number<uint8_t>());
    int64_t value = 0;
    for (size_t n = 0; n < std::min<size_t>(bytes.size(), 8); ++n)
      value |= static_cast<int64_t>(static_cast<unsigned char>(bytes[n])) << (8 * n);
    if (!bytes.empty() && bytes.size() < 8 && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0)
      value -= int64_t{1} << (8 * bytes.size());
    push(make(value));
  }

  void step(unsigned char code) {
    switch (code) {
      case 0x80: take(1); return;  // protocol
      case 0x95: take(8); return;  // frame
      case '(': marks_.push_back(stack_.size()); return;
      case '}': push(make(Dict{})); return;
      case ']': push(make(List{})); return;
      case ')': push(make(Tuple{})); return;
      case 'N': push(make(None{})); return;
      case 0x88: push(make(true)); return;
      case 0x89: push(make(false)); return;
      case 'K': push(make(static_cast<int64_t>(number<uint8_t>()))); return;
      case 'M': push(make(static_cast<int64_t>(number<uint16_t>()))); return;
      case 'J': push(make(static_cast<int64_t>(number<int32_t>()))); return;
      case 0x8a: long_integer(); return;
      case 'G': push(make(std::bit_cast<double>(__builtin_bswap64(number<uint64_t>())))); return;
      case 'X': push(make(std::string(take(number<uint32_t>())))); return;
      case 0x8c:
      case 'U': push(make(std::string(take(number<uint8_t>())))); return;
      case 'T': push(make(std::string(take(number<uint32_t>())))); return;
      case 'q': remember(number<uint8_t>()); return;
      case 'r': remember(number<uint32_t>()); return;
      case 0x94: remember(memo_.size()); return;
      case 'h': recall(number<uint8_t>()); return;
      case 'j': recall(number<uint32_t>()); return;
      case 0x85: tuple(1); return;
      case 0x86: tuple(2); return;
      case 0x87: tuple(3); return;
      case 't': push(make(Tuple{pop_mark()})); return;
      case 'l': push(make(pop_mark())); return;
      case 'd': {
        const List items = pop_mark();
        push(make(Dict{}));
        set_items(items);
        return;
      }
      case 'a': {
        const ValuePtr item = pop();
        as<List>(top(), "a list").push_back(item);
        return;
      }
      case 'e': {
        const List items = pop_mark();
        auto& list = as<List>(top(), "a list");
        list.insert(list.end(), items.begin(), items.end());
        return;
      }
      case 's': {
        const ValuePtr value = pop(), key = pop();
        set_items({key, value});
        return;
      }
      case 'u': set_items(pop_mark()); return;
      case 'c': {
        const std::string module(line());
        name_global(module + "." + std::string(line()));
        return;
      }
      case 0x93: {
        const auto name = as<std::string>(pop(), "text");
        name_global(as<std::string>(pop(), "text") + "." + name);
        return;
      }
      case 'Q': load_storage(); return;
      case 'R': call(); return;
      case 'b': {  // attributes of a dictionary: a state dict's versions
        pop();
        as<Dict>(top(), "a dictionary");
        return;
      }
      default:
        damaged(fmt::format("its pickle has the operation 0x{:02x}, which files of weights do not have",
                            static_cast<unsigned>(code)));
    }
  }

  Document document_;
  std::string_view& rest_;
  const std::string& name_;
  std::vector<ValuePtr> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, ValuePtr> memo_;
};

}  // namespace

Document read(std::string_view& bytes, const std::string& name) {
  return Machine(bytes, name).run();
}

std::vector<SavedTensor> state_dict(const Value& value, const std::string& name) {
  auto damaged = [&](const std::string& why) { invalid(fmt::format("{} is damaged: {}", name, why)); };
  const auto* dict = std::get_if<Dict>(&value.held);
  if (!dict) invalid(fmt::format("{} does not hold weights by name", name));
  if (dict->items.size() > kMostTensors) damaged(fmt::format("it has {} tensors", dict->items.size()));
  auto numbers = [&](const Tuple& told) {
    constexpr size_t kMostDimensions = 8;
    if (told.items.size() > kMostDimensions) damaged("a tensor has no proper shape");
    std::vector<int64_t> all;
    for (const ValuePtr& item : told.items) {
      const auto* number = std::get_if<int64_t>(&item->held);
      if (!number) damaged("a tensor has no proper shape");
      all.push_back(*number);
    }
    return all;
  };
  std::vector<SavedTensor> tensors;
  std::unordered_set<std::string_view> names;
  for (const auto& [key, item] : dict->items) {
    const auto* text = std::get_if<std::string>(&key->held);
    const auto* tensor = std::get_if<TensorCall>(&item->held);
    if (!text) invalid(fmt::format("{} does not hold weights by name", name));
    if (!tensor) {
      invalid(fmt::format("{}: '{}' is not a tensor: save the state dict alone", name, shortened(*text)));
    }
    if (!names.insert(*text).second) damaged(fmt::format("it has two tensors '{}'", shortened(*text)));
    tensors.push_back({*text, tensor->storage.key, tensor->storage.type, tensor->offset,
                       numbers(*tensor->shape), numbers(*tensor->stride)});
  }
  return tensors;
}

std::vector<std::string_view> texts(const Value& value, const std::string& name) {
  const auto* list = std::get_if<List>(&value.held);
  if (!list) invalid(fmt::format("{} is damaged: it does not list its storages", name));
  std::vector<std::string_view> all;
  for (const ValuePtr& item : *list) {
    const auto* text = std::get_if<std::string>(&item->held);
    if (!text) invalid(fmt::format("{} is damaged: it does not list its storages", name));
    all.emplace_back(*text);
  }
  return all;
}

}  // namespace synthesizer::pickle
