#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "inspect/inspection.h"

namespace synthesizer {
namespace {

constexpr size_t kNamed = 6;  // so many are listed, the rest is counted

std::string head_name(const InspectedLayer& layer, size_t head) {
  return fmt::format("{} head {}", layer.captured.title(), head + 1);
}

std::string listed(const std::vector<std::string>& names) {
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed)));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
  return text;
}

/// "0.42", or "0.42 to 0.97".
std::string between(double low, double high, const char* format) {
  const std::string a = fmt::format(fmt::runtime(format), low), b = fmt::format(fmt::runtime(format), high);
  return a == b ? a : a + " to " + b;
}

std::string stack_line(const Inspection& found, AttentionPlace stack) {
  double low = 2, high = -1, near = 1e9, far = -1;
  for (const InspectedLayer& layer : found.layers) {
    if (layer.captured.stack != stack) continue;
    for (const HeadStatistics& head : layer.numbers) {
      low = std::min(low, head.entropy_share);
      high = std::max(high, head.entropy_share);
      near = std::min(near, head.distance);
      far = std::max(far, head.distance);
    }
  }
  if (high < 0) return "";
  return fmt::format("{}: entropy of the weights {} of the highest possible, mean distance {} tokens",
                     choice_name(stack), between(low, high, "{:.2f}"), between(near, far, "{:.1f}"));
}

void add_heads(std::vector<std::string>& lines, const Inspection& found, const char* what,
               const std::function<std::string(const InspectedLayer&, size_t)>& name) {
  std::vector<std::string> names;
  for (const InspectedLayer& layer : found.layers) {
    for (size_t h = 0; h < layer.numbers.size(); ++h) {
      if (const std::string one = name(layer, h); !one.empty()) names.push_back(one);
    }
  }
  if (!names.empty()) lines.push_back(fmt::format("{} {}: {}", names.size(), what, listed(names)));
}

std::string table_line(const Inspection& found, const std::string& member) {
  double low = 1e18, high = -1, least = 1e18, most = -1, nearest = 1e18, farthest = -1;
  int64_t fewest = 0, count = 0, length = 0;
  for (const RandomTable& table : found.tables) {
    if (table.member != member) continue;
    length = table.length;
    for (const TableHead& head : table.heads) {
      low = std::min(low, head.spectrum.effective_rank());
      high = std::max(high, head.spectrum.effective_rank());
      fewest = std::max(fewest, head.spectrum.holding(0.99));
      ++count;
      if (head.change) {
        nearest = std::min(nearest, *head.change);
        farthest = std::max(farthest, *head.change);
      }
      if (!head.moved) continue;
      least = std::min(least, *head.moved);
      most = std::max(most, *head.moved);
    }
  }
  std::string line =
      fmt::format("{} tables ({} of {}×{}): effective rank {}, {} singular values hold 99% of the energy",
                  member, count, length, length, between(low, high, "{:.0f}"), fewest);
  if (most >= 0) line += fmt::format("; moved by {} of their start", between(least, most, "{:.2f}"));
  if (farthest >= 0)
    return line + fmt::format("; an entry by {} on average", between(nearest, farthest, "{:.3f}"));
  return line + (found.start_known ? "" : "; where they started is not known");
}

std::string mixture_line(const Inspection& found) {
  std::vector<std::string> layers;
  for (size_t n = 0; n < found.mixtures.size(); ++n) {
    const auto& members = found.mixture_members[n];
    std::vector<std::string> shares;
    for (size_t m = 0; m < members.size(); ++m) {
      double mean = 0;
      for (const auto& row : found.mixtures[n].shares) mean += row[m];
      shares.push_back(
          fmt::format("{} {:.2f}", members[m], mean / static_cast<double>(found.mixtures[n].shares.size())));
    }
    layers.push_back(fmt::format("{} ({})", found.mixtures[n].layer, fmt::join(shares, ", ")));
  }
  return fmt::format("mixture weights: {}", fmt::join(layers, "; "));
}

}  // namespace

std::vector<std::string> summary_of(const Inspection& found) {
  std::vector<std::string> lines = {
      fmt::format("{}: {} with attention {}, seen on {}", found.run, found.task, found.attention,
                  found.from == "dev" ? fmt::format("{} texts of dev", found.texts) : "the given text")};
  for (const AttentionPlace stack :
       {AttentionPlace::encoder, AttentionPlace::decoder, AttentionPlace::cross}) {
    if (const std::string line = stack_line(found, stack); !line.empty()) lines.push_back(line);
  }
  add_heads(lines, found, "near-uniform", [](const InspectedLayer& layer, size_t h) {
    return layer.numbers[h].near_uniform() ? head_name(layer, h) : "";
  });
  add_heads(lines, found, "near-diagonal", [](const InspectedLayer& layer, size_t h) {
    const HeadStatistics& head = layer.numbers[h];
    return head.near_diagonal()
               ? fmt::format("{} ({:+d}, {:.2f})", head_name(layer, h), head.offset, head.diagonal)
               : "";
  });
  std::vector<std::string> pairs, members, baselines;
  for (const HeadPair& pair : found.identical) {
    pairs.push_back(fmt::format("{} and {}", head_name(found.layers[pair.first_layer], pair.first_head),
                                head_name(found.layers[pair.second_layer], pair.second_head)));
  }
  if (!pairs.empty())
    lines.push_back(fmt::format("{} near-identical pairs: {}", pairs.size(), listed(pairs)));
  for (const RandomTable& table : found.tables) {
    if (std::find(members.begin(), members.end(), table.member) == members.end())
      members.push_back(table.member);
  }
  for (const std::string& member : members) lines.push_back(table_line(found, member));
  if (!found.mixtures.empty()) lines.push_back(mixture_line(found));
  for (const CapturedLayer& layer : found.without_weights)
    baselines.push_back(fmt::format("{} ({})", layer.title(), layer.attention));
  if (!baselines.empty()) lines.push_back(fmt::format("no weights to show: {}", listed(baselines)));
  return lines;
}

}  // namespace synthesizer
