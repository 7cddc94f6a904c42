#include "text/store_parts.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

bool never() {
  return false;
}

/// Adds a block that follows it.
void extend(EncodedBlock& part, EncodedBlock block) {
  std::move(block.tokens.begin(), block.tokens.end(), std::back_inserter(part.tokens));
  part.counts.insert(part.counts.end(), block.counts.begin(), block.counts.end());
  for (const LineRun& run : block.runs) {
    if (part.runs.empty() || !continues(part.runs.back(), run)) part.runs.push_back(run);
  }
}

}  // namespace

StoreParts::StoreParts(const StoreOptions& options, std::string folder)
    : options_(options), folder_(std::move(folder)) {
  fs::create_directories(folder_);
}

bool StoreParts::worthwhile(const StoreOptions& options) {
  int64_t bytes = 0;
  for (const auto& path : options.files.paths) {
    std::error_code unknown;
    const auto size = fs::file_size(path, unknown);
    if (!unknown) bytes += static_cast<int64_t>(size);
  }
  return bytes > options.part_bytes;
}

std::string StoreParts::path(size_t part) const {
  return fmt::format("{}/{}", folder_, part);
}

void StoreParts::make_free_ones(const std::function<bool()>& enough) {
  make(FileLock::Wait::never, enough);
}

bool StoreParts::make(FileLock::Wait wait, const std::function<bool()>& enough) {
  std::vector<ExampleRange> ranges;
  TextBlocks blocks(options_);
  for (TextBlock block = blocks.next(); !block.texts.empty();) {
    if (enough()) return false;
    const size_t part = ranges.size();
    fs::create_directories(folder_);  // another process may have removed it
    if (fs::exists(path(part))) {
      ranges.push_back(pass_part(blocks, block, part, false));
    } else {
      const FileLock lock(path(part) + ".lock", wait);
      // Asked again, as another process may have made it, or even the whole store, meanwhile.
      const bool wanted = !lock.busy() && !fs::exists(path(part)) && !enough();
      ranges.push_back(pass_part(blocks, block, part, wanted));
    }
    if (options_.progress) options_.progress(ranges.back().first + ranges.back().count);
  }
  ranges_ = std::move(ranges);
  return true;
}

ExampleRange StoreParts::pass_part(TextBlocks& blocks, TextBlock& block, size_t part, bool wanted) const {
  EncodedBlock encoded;
  encoded.first = block.first;
  ExampleRange range{block.first, 0};
  BlockEncoder encoder(options_, [&](EncodedBlock next) { extend(encoded, std::move(next)); });
  for (int64_t bytes = 0; !block.texts.empty() && bytes < options_.part_bytes; block = blocks.next()) {
    bytes += block.bytes;
    range.count += static_cast<int64_t>(block.texts.size() / blocks.fields());
    if (wanted) encoder.add(std::move(block));
  }
  encoder.finish();
  if (wanted) save_part(path(part), encoded, blocks.fields());
  return range;
}

bool StoreParts::write_all(StoreWriter& writer) const {
  for (size_t part = 0; part < ranges_.size(); ++part) {
    const auto block = load_part(path(part), ranges_[part], options_.tokenizers.size());
    if (!block) {
      fs::remove(path(part));  // damaged, or not made yet
      return false;
    }
    writer.add(*block);
  }
  return true;
}

StoreIndex StoreParts::join(const std::string& store_folder) {
  for (;;) {
    if (ranges_.empty()) make(FileLock::Wait::forever, never);
    {
      StoreWriter writer(options_, store_folder);
      if (write_all(writer)) return writer.commit();
    }
    fs::remove_all(store_folder);
    fs::create_directories(store_folder);
    make(FileLock::Wait::forever, never);
  }
}

void StoreParts::remove() const {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace synthesizer
