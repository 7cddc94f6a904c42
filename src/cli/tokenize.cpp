// synth tokenize: converts lines of standard input to the tokens that a run's model reads, or back.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "base/error.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/line_blocks.h"
#include "cli/print.h"
#include "run/run_folder.h"
#include "task/run.h"
#include "task/tokenizers.h"
#include "task/unknown_tokens.h"
#include "text/utf8.h"

namespace synthesizer::cli {
namespace {

struct TokenizeArguments {
  std::string run, side = "source";
  bool ids = false, decode = false, json = false;
};

std::shared_ptr<const Tokenizer> tokenizer_of(const TokenizeArguments& a) {
  const RunFolder folder{a.run};
  folder.check_is_run();
  const Tokenizers both = load_tokenizers(a.run);
  if (std::filesystem::exists(folder.model()))
    check_tokenizer(folder.model(), both);  // a damaged one may load
  return a.side == "target" ? both.target : both.source;
}

/// A token to look at: blanks, which separate the tokens of a line, as SentencePiece shows them.
std::string shown_piece(const Tokenizer& tokenizer, Token token) {
  std::string piece = tokenizer.piece(token);
  for (size_t place = piece.find(' '); place != std::string::npos; place = piece.find(' ', place))
    piece.replace(place, 1, "▁");
  return piece;
}

void print_tokens(const TokenizeArguments& a, const Tokenizer& tokenizer, const std::string& line) {
  const Tokens tokens = tokenizer.encode(line);
  std::vector<std::string> pieces;
  for (const Token token : tokens)
    pieces.push_back(a.json ? tokenizer.piece(token) : shown_piece(tokenizer, token));
  if (a.json) {
    const nlohmann::ordered_json object = {
        {"tokens", pieces}, {"ids", tokens}, {"unknown", count_unknown(tokenizer, tokens).unknown}};
    return print_out("{}\n", object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  if (a.ids) return print_out("{}\n", fmt::join(tokens, " "));
  print_out("{}\n", fmt::join(pieces, " "));
}

void print_text(const Tokenizer& tokenizer, const std::string& line, int64_t number) {
  Tokens tokens;
  for (const std::string_view word : split_words(line)) {
    Token token = 0;
    if (!parse_number(word, token) || token < 0 || token >= tokenizer.size()) {
      invalid(fmt::format("standard input:{}: '{}' is not a token id of this run: ids are from 0 to {}",
                          number, word, tokenizer.size() - 1));
    }
    tokens.push_back(token);
  }
  print_out("{}\n", tokenizer.decode(tokens));
}

void tokenize(const TokenizeArguments& a) {
  if (a.decode && (a.ids || a.json))
    invalid("--decode prints text: it cannot be combined with --ids or --json");
  const auto tokenizer = tokenizer_of(a);
  for_each_input_block([&](const auto& lines, int64_t first, auto&) {
    for (size_t i = 0; i < lines.size(); ++i) {
      if (a.decode) {
        print_text(*tokenizer, lines[i], first + static_cast<int64_t>(i));
      } else {
        print_tokens(a, *tokenizer, lines[i]);
      }
    }
  });
}

}  // namespace

void add_tokenize(CLI::App& program) {
  auto* command = program.add_subcommand("tokenize", "convert lines of standard input to tokens, or back");
  auto a = std::make_shared<TokenizeArguments>();
  command->add_option("RUN", a->run, "the run's folder")->required();
  command->add_flag("--ids", a->ids, "print token ids instead of token texts");
  command->add_flag("--decode", a->decode, "convert lines of ids to text");
  command->add_option("--side", a->side, "tokenizer to use, for runs with two: source or target")
      ->capture_default_str()
      ->check(CLI::IsMember({"source", "target"}));
  command->add_flag("--json", a->json,
                    "print one JSON object per line: tokens, ids and the number of unknown tokens");
  command->callback([a] { tokenize(*a); });
}

}  // namespace synthesizer::cli
