#include "fuzz/targets.h"
#include "fuzz/tokenizer_use.h"
#include "text/sentencepiece_tokenizer.h"

namespace synthesizer::fuzz {

void run_sentencepiece(std::string_view input) {
  std::unique_ptr<Tokenizer> tokenizer;
  const auto load = [&] { tokenizer = std::make_unique<SentencePieceTokenizer>(std::string(input), "file"); };
  if (accepted("file", load)) accepted("file", [&] { use_tokenizer(*tokenizer); });
}

}  // namespace synthesizer::fuzz
