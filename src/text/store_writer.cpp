#include "text/store_writer.h"

namespace synthesizer {

StoreWriter::StoreWriter(const StoreOptions& options, const std::string& folder)
    : options_(options), lines_(folder, "lines") {
  for (size_t i = 0; i < options.tokenizers.size(); ++i)
    columns_.push_back(std::make_unique<TokenColumnWriter>(folder, i, options.shard_tokens));
}

void StoreWriter::add(const EncodedBlock& block) {
  for (const LineRun& run : block.runs) {
    if (run.example > 0 && continues(run_, run)) continue;
    run_ = run;
    lines_.write(std::span<const LineRun>(&run_, 1));
  }
  for (size_t i = 0; i < block.tokens.size(); ++i)
    columns_[i % columns_.size()]->add(block.tokens[i], block.counts[i]);
  examples_ += static_cast<int64_t>(block.tokens.size() / columns_.size());
}

StoreIndex StoreWriter::commit() {
  int64_t tokens = 0;
  for (const auto& column : columns_) tokens += column->tokens();
  if (tokens == 0) refuse_empty(options_.files);
  StoreIndex index{{}, examples_, static_cast<int64_t>(columns_.size()), {lines_.commit()}};
  for (auto& column : columns_) column->commit(index.files);
  return index;
}

}  // namespace synthesizer
