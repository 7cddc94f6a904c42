#include "text/store_maker.h"

#include "text/store_writer.h"

namespace synthesizer {

StoreIndex make_store(const StoreOptions& options, const std::string& folder) {
  TextBlocks blocks(options);
  StoreWriter writer(options, folder);
  BlockEncoder encoder(options, [&](const EncodedBlock& block) {
    writer.add(block);
    if (options.progress) {
      options.progress(block.first + static_cast<int64_t>(block.tokens.size() / blocks.fields()));
    }
  });
  for (TextBlock block = blocks.next(); !block.texts.empty(); block = blocks.next())
    encoder.add(std::move(block));
  encoder.finish();
  return writer.commit();
}

}  // namespace synthesizer
