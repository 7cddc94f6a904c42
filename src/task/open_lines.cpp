#include "task/open_lines.h"

#include <fmt/format.h>

#include <thread>

#include "task/data_files.h"

namespace synthesizer {

std::unique_ptr<TokenStore> open_store(const Task& task, const Files& files,
                                       const std::vector<const Tokenizer*>& tokenizers) {
  StoreOptions options;
  options.files = files;
  options.tokenizers = tokenizers;
  options.cache = cache_folder(task.recipe());
  options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::make_unique<TokenStore>(TokenStore::open(options));
}

std::unique_ptr<Dataset> open_lines(const Task& task, std::unique_ptr<TokenStore> store, LineFraming framing,
                                    bool training) {
  const Recipe& recipe = task.recipe();
  LineBatchOptions options;
  options.batch_tokens = recipe.train.batch_tokens;
  options.batch_examples = recipe.train.batch_examples;
  options.max_lengths = std::move(framing.max_lengths);
  options.before = std::move(framing.before);
  options.after = std::move(framing.after);
  options.too_long = recipe.data.too_long;
  options.seed = static_cast<uint64_t>(recipe.seed);
  options.shuffle = training;
  auto data = std::make_unique<Dataset>();
  data->paths = store->files().paths;
  auto batches = std::make_unique<LineBatches>(*store, options);
  auto lines = [](int64_t n) { return fmt::format("{} {}", n, n == 1 ? "line" : "lines"); };
  if (batches->too_long() > 0) {
    data->remarks.push_back(fmt::format("{} too long for the model: {}", lines(batches->too_long()),
                                        options.too_long == TooLong::skip ? "left out" : "cut"));
  }
  if (batches->empty() > 0)
    data->remarks.push_back(fmt::format("{} with an empty side: left out", lines(batches->empty())));
  // What is predicted is the last field, all of it but the first token; a line end is a word and a character.
  const auto predicted = batches->totals(store->fields() - 1);
  data->tokens = predicted.tokens - batches->examples();
  data->words = predicted.words + batches->examples();
  data->characters = predicted.characters + batches->examples();
  data->batches = std::move(batches);
  data->stores.push_back(std::move(store));
  return data;
}

}  // namespace synthesizer
