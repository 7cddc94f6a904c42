#include "text/charsmap.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace synthesizer {
namespace {

/// A unit of a Darts double-array trie, as it is stored.
struct Unit {
  uint32_t bits;

  uint32_t label() const { return bits & (uint32_t{1} << 31 | 0xFF); }
  uint32_t value() const { return bits & ~(uint32_t{1} << 31); }
  uint32_t offset() const { return bits >> 10 << ((bits & 1u << 9) >> 6); }
  bool has_leaf() const { return (bits >> 8 & 1) != 0; }
};

/// Walks to every node that some text leads to. `values`: leaves must lie below.
bool trie_is_sound(const std::vector<Unit>& units, size_t values) {
  std::vector<bool> seen(units.size());
  std::vector<uint32_t> open = {units[0].offset()};  // where the children of a node start
  while (!open.empty()) {
    const uint32_t children = open.back();
    open.pop_back();
    if ((children | 0xFF) >= units.size()) return false;
    if (seen[children]) continue;
    seen[children] = true;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t place = children ^ byte;
      const Unit unit = units[place];
      if (unit.label() != byte) continue;
      const uint32_t next = place ^ unit.offset();
      if (unit.has_leaf() && (next >= units.size() || units[next].value() >= values)) return false;
      open.push_back(next);
    }
  }
  return true;
}

}  // namespace

bool charsmap_is_valid(std::string_view charsmap) {
  if (charsmap.empty()) return true;  // no normalization
  // The trie's size in bytes, the trie, and the texts its leaves point at.
  uint32_t trie_bytes = 0;
  if (charsmap.size() <= sizeof(trie_bytes)) return false;
  std::memcpy(&trie_bytes, charsmap.data(), sizeof(trie_bytes));
  charsmap.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes >= charsmap.size() || trie_bytes < sizeof(Unit)) return false;
  std::vector<Unit> units(trie_bytes / sizeof(Unit));
  std::memcpy(units.data(), charsmap.data(), units.size() * sizeof(Unit));
  return trie_is_sound(units, charsmap.size() - trie_bytes);
}

}  // namespace synthesizer
