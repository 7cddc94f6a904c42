#include "text/byte_pairs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <queue>

#include "text/special_tokens.h"
#include "text/symbol_file.h"
#include "text/unicode_text.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

constexpr std::string_view kBytePairMagic = "synthesizer byte pairs 1\n";

/// GPT-2's character for each byte: itself where it is printable, one from U+0100 on otherwise.
const std::array<std::string, 256>& byte_characters() {
  static const auto all = [] {
    std::array<std::string, 256> characters;
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      characters[byte] = encode_code_point(printable ? byte : next++);
    }
    return characters;
  }();
  return all;
}

/// The bytes that a piece stands for; a piece that is no such text, such as <|endoftext|>, is its own.
std::string bytes_of_piece(const std::string& piece) {
  static const auto byte_of = [] {
    std::unordered_map<std::string, char> map;
    for (size_t byte = 0; byte < 256; ++byte) map[byte_characters()[byte]] = static_cast<char>(byte);
    return map;
  }();
  std::string bytes;
  for (const std::string_view character : split_characters(piece)) {
    const auto found = byte_of.find(std::string(character));
    if (found == byte_of.end()) return piece;
    bytes += found->second;
  }
  return bytes;
}

uint64_t pair_key(Token left, Token right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32U | static_cast<uint32_t>(right);
}

BytePairModel parse_byte_pairs(const std::string& serialized, const std::string& name) {
  try {
    const auto fields = nlohmann::json::parse(serialized.substr(kBytePairMagic.size()));
    return {fields.at("pieces").get<std::vector<std::string>>(),
            fields.at("merges").get<std::vector<std::pair<std::string, std::string>>>(),
            fields.at("end").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    no_tokenizer(name, "it is cut off or damaged");
  }
}

enum class Kind { space, letter, number, sign };

Kind kind_of(char32_t character) {
  if (unicode::is_white_space(character)) return Kind::space;
  switch (unicode::category(character)) {
    case unicode::Category::letter: return Kind::letter;
    case unicode::Category::number: return Kind::number;
    default: return Kind::sign;
  }
}

}  // namespace

std::vector<std::string_view> split_for_byte_pairs(std::string_view text) {
  struct Character {
    size_t begin;
    Kind kind;
  };
  std::vector<Character> characters;
  for (size_t at = 0; at < text.size();) {
    const auto [bytes, valid] = leading_character(text.substr(at));
    characters.push_back({at, valid ? kind_of(code_point(text.substr(at, bytes))) : Kind::sign});
    at += bytes;
  }
  characters.push_back({text.size(), Kind::space});
  const size_t count = characters.size() - 1;
  std::vector<std::string_view> parts;
  auto add = [&](size_t from, size_t to) {
    parts.push_back(text.substr(characters[from].begin, characters[to].begin - characters[from].begin));
  };
  auto run_end = [&](size_t from) {
    size_t to = from + 1;
    while (to < count && characters[to].kind == characters[from].kind) ++to;
    return to;
  };
  for (size_t at = 0; at < count;) {
    const auto rest = text.substr(characters[at].begin);
    size_t end = at;
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
      if (rest.starts_with(ending)) end = at + ending.size();
    }
    if (end == at) {
      const bool blank_before = rest[0] == ' ' && at + 1 < count && characters[at + 1].kind != Kind::space;
      if (blank_before) {
        end = run_end(at + 1);
      } else {
        end = run_end(at);
        // The last white space belongs to the word behind it.
        if (characters[at].kind == Kind::space && end < count && end - at > 1) --end;
      }
    }
    add(at, end);
    at = end;
  }
  return parts;
}

BytePairs::BytePairs(const std::string& serialized, const std::string& name)
    : BytePairs(parse_byte_pairs(serialized, name), name) {}

BytePairs::BytePairs(BytePairModel model, const std::string& name) : model_(std::move(model)), bytes_() {
  std::unordered_map<std::string, Token> numbers;
  for (size_t n = 0; n < model_.pieces.size(); ++n) {
    if (!model_.pieces[n].empty()) numbers.emplace(model_.pieces[n], static_cast<Token>(n));
    texts_.push_back(bytes_of_piece(model_.pieces[n]));
  }
  auto number_of = [&](const std::string& piece) {
    const auto found = numbers.find(piece);
    if (found == numbers.end()) no_tokenizer(name, "'" + replace_invalid(piece) + "' has no number");
    return found->second;
  };
  for (size_t byte = 0; byte < 256; ++byte) bytes_[byte] = number_of(byte_characters()[byte]);
  for (size_t rank = 0; rank < model_.merges.size(); ++rank) {
    const auto& [left, right] = model_.merges[rank];
    merges_.emplace(pair_key(number_of(left), number_of(right)), Merge{rank, number_of(left + right)});
  }
  end_ = number_of(model_.end);
  added_ = {{model_.end, end_}};
}

bool BytePairs::is_serialized(std::string_view contents) {
  return contents.starts_with(kBytePairMagic);
}

std::string BytePairs::serialized() const {
  const nlohmann::json fields = {{"pieces", model_.pieces}, {"merges", model_.merges}, {"end", model_.end}};
  return std::string(kBytePairMagic) + fields.dump() + "\n";
}

void BytePairs::encode_part(std::string_view part, Tokens& tokens) const {
  // A list of tokens that shrinks: those merged away are skipped over. The queue has every pair that may be
  // merged, and pairs that are no more, which are recognised by their tokens.
  struct Node {
    Token token;
    size_t before, after;
  };
  struct Candidate {
    size_t rank, place;
    uint64_t key;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : place > other.place;
    }
  };
  constexpr size_t kNone = std::string_view::npos;
  std::vector<Node> nodes;
  for (size_t n = 0; n < part.size(); ++n) {
    nodes.push_back({bytes_[static_cast<unsigned char>(part[n])], n == 0 ? kNone : n - 1,
                     n + 1 == part.size() ? kNone : n + 1});
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  auto consider = [&](size_t place) {
    if (place == kNone || nodes[place].after == kNone) return;
    const uint64_t key = pair_key(nodes[place].token, nodes[nodes[place].after].token);
    if (const auto found = merges_.find(key); found != merges_.end())
      queue.push({found->second.rank, place, key});
  };
  for (size_t n = 0; n < nodes.size(); ++n) consider(n);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Node& left = nodes[best.place];
    if (left.token < 0 || left.after == kNone || pair_key(left.token, nodes[left.after].token) != best.key)
      continue;
    Node& right = nodes[left.after];
    left.token = merges_.at(best.key).merged;
    right.token = -1;
    left.after = right.after;
    if (right.after != kNone) nodes[right.after].before = best.place;
    consider(left.before);
    consider(best.place);
  }
  for (const Node& node : nodes) {
    if (node.token >= 0) tokens.push_back(node.token);
  }
}

Tokens BytePairs::encode(std::string_view text) const {
  Tokens tokens;
  auto encode_text = [&](std::string_view between) {
    for (const std::string_view part : split_for_byte_pairs(between)) encode_part(part, tokens);
  };
  split_at_added(text, added_, encode_text, [&](Token token) { tokens.push_back(token); });
  return tokens;
}

std::string BytePairs::decode(std::span<const Token> tokens) const {
  std::string bytes;
  for (const Token token : tokens) {
    check_token(token, size());
    if (token >= 0 && token != end_) bytes += texts_[static_cast<size_t>(token)];
  }
  return replace_invalid(bytes);
}

std::string BytePairs::piece(Token token) const {
  check_token(token, size());
  return token < 0 ? "" : replace_invalid(texts_[static_cast<size_t>(token)]);
}

}  // namespace synthesizer
