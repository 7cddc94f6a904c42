// Words in quotes, as a real shell reads them.

#include "base/shell_quote.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace synthesizer::testing {
namespace {

TEST(ShellQuote, LeavesPlainWordsAlone) {
  for (const char* word :
       {"runs/x", "a.b-c_d", "--set", "train.steps=100", "R+V", "light-conv:15", "~/runs/x"})
    EXPECT_EQ(shell_quoted(word), word);
}

TEST(ShellQuote, QuotesTheRest) {
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("run 2"), "'run 2'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("~"), "'~'");
  EXPECT_EQ(shell_quoted("~/my runs"), "~/'my runs'");
  EXPECT_EQ(shell_command({"synth", "train", "a b", "--run", "c"}), "synth train 'a b' --run c");
}

/// What a shell makes of a word.
std::string read_by_shell(const std::string& quoted) {
  std::string said;
  FILE* shell = ::popen(("printf %s " + quoted).c_str(), "r");
  std::array<char, 256> buffer = {};
  while (const size_t size = std::fread(buffer.data(), 1, buffer.size(), shell))
    said.append(buffer.data(), size);
  EXPECT_EQ(::pclose(shell), 0);
  return said;
}

TEST(ShellQuote, IsReadBackByAShell) {
  for (const char* word :
       {"d ir/ü 日/run 2", "'", "\"$HOME\" `ls` $(ls) \\", "a;b&c|d<e>f", "*?[a]{b,c}", "#!^~"})
    EXPECT_EQ(read_by_shell(shell_quoted(word)), word);
}

}  // namespace
}  // namespace synthesizer::testing
