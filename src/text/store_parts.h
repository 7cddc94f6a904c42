#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/file_lock.h"
#include "text/store_part.h"
#include "text/store_writer.h"

namespace synthesizer {

/// A large corpus is tokenized in parts. Every part is a file of its own, so that one that was made before a
/// kill is not made again, and several processes that want the same corpus each make some of them. Each of
/// them reads all of the text, which takes a small share of the time that tokenizing takes.
class StoreParts {
 public:
  /// `folder` has the parts; it is made where it is missing.
  StoreParts(const StoreOptions& options, std::string folder);

  /// Whether the files are larger than one part.
  static bool worthwhile(const StoreOptions& options);

  /// Makes all parts that are not there and that no other process is making. `enough` is asked before each
  /// part: true stops it.
  void make_free_ones(const std::function<bool()>& enough);
  /// Makes what is still missing, waits for other processes that make a part, and writes all of them as a
  /// store into a folder that exists.
  StoreIndex join(const std::string& store_folder);
  /// They are no longer needed.
  void remove() const;

 private:
  std::string path(size_t part) const;
  /// Reads the text and makes the parts that are not there; those that another process makes are waited for
  /// or left out. False where `enough` has stopped it.
  bool make(FileLock::Wait wait, const std::function<bool()>& enough);
  /// From `block` on, which becomes the first one after it; tokenized and saved where it is `wanted`.
  ExampleRange pass_part(TextBlocks& blocks, TextBlock& block, size_t part, bool wanted) const;
  bool write_all(StoreWriter& writer) const;

  const StoreOptions& options_;
  std::string folder_;
  std::vector<ExampleRange> ranges_;  ///< of all parts; empty until the text has been read to its end
};

}  // namespace synthesizer
