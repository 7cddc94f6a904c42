#include "fuzz/targets.h"
#include "fuzz/tokenizer_use.h"
#include "text/symbol_file.h"

namespace synthesizer::fuzz {

void run_tokenizer(std::string_view input) {
  // What lacks the first words is read as a SentencePiece model, which has a target of its own.
  std::string contents(input);
  if (!is_symbol_file(contents)) contents.insert(0, "synthesizer tokenizer ");
  std::unique_ptr<Tokenizer> tokenizer;
  if (!accepted("file", [&] { tokenizer = parse_tokenizer(contents, "file"); })) return;
  if (tokenizer->serialized() != contents) fault("it is saved as another file");
  use_tokenizer(*tokenizer);
}

}  // namespace synthesizer::fuzz
