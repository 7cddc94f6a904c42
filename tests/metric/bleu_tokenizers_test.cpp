// The tokenizers of BLEU, and the lowercasing before them, against those of sacreBLEU 2.4.3.

#include "metric/bleu_tokenizers.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "text/unicode_text.h"

namespace synthesizer::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using unicode::Category;

using Lines = std::vector<std::pair<std::string, std::string>>;

void expect_lines(BleuTokenizer tokenizer, const Lines& lines) {
  for (const auto& [line, expected] : lines) EXPECT_EQ(bleu_tokenize(line, tokenizer), expected) << line;
}

TEST(BleuTokenize, agrees_with_sacrebleu_on_13a) {
  expect_lines(BleuTokenizer::mteval13a,
               {
                   {"", ""},
                   {"   ", ""},
                   {"Hello, world!", "Hello , world !"},
                   {"Hello", "Hello"},
                   {"It costs $1,000.50, or 3.5%.", "It costs $ 1,000.50 , or 3.5 % ."},
                   {"In 2010, 1,000.5 was 7.", "In 2010 , 1,000.5 was 7 ."},
                   {"the 1990-91 season is well-known", "the 1990 - 91 season is well-known"},
                   {"don't \"quote\" me: it's 'fine'", "don't \" quote \" me : it's 'fine'"},
                   {"&quot;AT&amp;T&quot; &lt;b&gt; &amp;lt; &apos;", "\" AT & T \" < b > < & apos ;"},
                   {"a <skipped>b</skipped> <skipped>", "a b < / skipped >"},
                   {"U.S.A. e.g. ... wait...", "U . S . A . e . g . . . . wait . . ."},
                   {"„Was?“ – fragte er … «oui» ‘so’", "„Was ? “ – fragte er … «oui» ‘so’"},
                   {"5€ £3.20 ¥100", "5€ £3.20 ¥100"},
                   {"你好，世界。1,5 東京", "你好，世界。1,5 東京"},
                   {"😀 smile👍🏽 ok.", "😀 smile👍🏽 ok ."},
                   {"a_b [c] {d} x/y @me #1 ~2 `e` ^f |g| \\h *i* +j =k",
                    "a _ b [ c ] { d } x / y @ me # 1 ~ 2 ` e ` ^ f | g | \\ h * i * + j = k"},
                   {"x.y,z 1.x x.1 1,x x,1 .5 5. ,", "x . y , z 1 . x x . 1 1 , x x , 1 . 5 5 . ,"},
                   {"3-4 3- -3 3--4 a-3", "3 - 4 3 - -3 3 - -4 a-3"},
                   {"spaced\u3000out\u00A0here\tnow", "spaced out here now"},
                   {"line-\nbreak\nhere", "linebreak here"},
                   {"été,où naïve.Ça", "été , où naïve . Ça"},
                   {"a;b?c!d:e", "a ; b ? c ! d : e"},
               });
}

TEST(BleuTokenize, agrees_with_sacrebleu_on_intl) {
  expect_lines(BleuTokenizer::international,
               {
                   {"", ""},
                   {"Hello, world!", "Hello , world !"},
                   {"It costs $1,000.50, or 3.5%.", "It costs $ 1,000.50 , or 3.5 % ."},
                   {"It was 1999.", "It was 1999."},
                   {"It was 1999. So", "It was 1999 . So"},
                   {"„Was?“ – fragte er … «oui» ‘so’", "„ Was ? “ – fragte er … « oui » ‘ so ’"},
                   {"5€ £3.20 ¥100 ©2020 5°", "5 € £ 3.20 ¥ 100 © 2020 5 °"},
                   {"你好，世界。「東京」1，5", "你好 ， 世界 。 「 東京 」 1，5"},
                   {"😀smile👍🏽 🫨", "😀 smile 👍 🏽 🫨"},
                   {"don't well-known \"quoted\" 3-4", "don ' t well - known \" quoted \" 3-4"},
                   {"&quot;AT&amp;T&quot;", "& quot ; AT & amp ; T & quot ;"},
                   {"½.5 Ⅷ.x ٣.٤ ٣،٤", "½.5 Ⅷ . x ٣.٤ ٣،٤"},
                   {"a+b=c < d ~ `e` ^f |g|", "a + b = c < d ~ ` e ` ^ f | g |"},
                   {"... wait...", ". . . wait . . ."},
                   {"...", ". . ."},
                   {"¿Qué? ¡No!", "¿ Qué ? ¡ No !"},
                   {"مرحبا، كيف؟", "مرحبا ، كيف ؟"},
                   {"x.y,z 1.x x.1 .5 5. ,", "x . y , z 1 . x x . 1 . 5 5 . ,"},
                   {"l'été—c’est", "l ' été — c ’ est"},
                   {"a\u3000b\u2009c\u200Bd", "a b c\u200Bd"},
               });
}

TEST(BleuTokenize, agrees_with_sacrebleu_on_char) {
  expect_lines(BleuTokenizer::characters, {
                                              {"", ""},
                                              {"a b", "a b"},
                                              {"Straße 1.5", "S t r a ß e 1 . 5"},
                                              {"你好 世界", "你 好 世 界"},
                                              {"👍🏽e\u0301", "👍 🏽 e \u0301"},
                                              {"a\u3000b\u00A0c", "a b c"},
                                          });
}

TEST(BleuTokenize, agrees_with_sacrebleu_on_none) {
  expect_lines(BleuTokenizer::none, {
                                        {"", ""},
                                        {"  a  b ", "a b"},
                                        {"Hello, world!", "Hello, world!"},
                                        {"&quot;x&quot;", "&quot;x&quot;"},
                                        {"a\u3000b\tc\u00A0d\u200Be", "a b c d\u200Be"},
                                    });
}

TEST(BleuTokenize, keeps_what_is_not_utf8_apart_from_its_neighbours) {
  EXPECT_EQ(bleu_tokenize("a\xFF"
                          "b",
                          BleuTokenizer::characters),
            "a \uFFFD b");
  EXPECT_EQ(bleu_tokenize("a,\xC3", BleuTokenizer::international), "a , \uFFFD");
}

TEST(BleuTokenizerNames, lead_back_and_forth) {
  EXPECT_THAT(bleu_tokenizer_names(), ElementsAre("13a", "none", "char", "intl"));
  for (const std::string& name : bleu_tokenizer_names()) EXPECT_EQ(name_of(bleu_tokenizer(name)), name);
  EXPECT_THAT([] { bleu_tokenizer("13b"); },
              ThrowsMessage<InvalidInput>(
                  "no BLEU tokenizer '13b', did you mean '13a'? (there are 13a, none, char, intl)"));
}

TEST(Lowercase, agrees_with_python) {
  const Lines lines = {
      {"", ""},
      {"abc", "abc"},
      {"The CAT", "the cat"},
      {"ÄÖÜß ÉÑ", "äöüß éñ"},
      {"ΟΔΟΣ", "οδος"},
      {"ΟΔΟΣ ΣΑΣ", "οδος σας"},
      {"Σ", "σ"},
      {"ΣΣ", "σς"},
      {"ΑΣ'Β ΑΣ'", "ασ'β ας'"},
      {"ΑΣ\u0301 ΑΣ.Β", "ας\u0301 ασ.β"},
      {"İstanbul IŞIK", "i̇stanbul işik"},
      {"ǅ Ǆ Ǉ", "ǆ ǆ ǉ"},
      {"ĀāĂă ŹźŻż Ÿ", "āāăă źźżż ÿ"},
      {"ЖИЗНЬ Ё", "жизнь ё"},
      {"ＡＢＣ", "ａｂｃ"},
      {"Ⅷ Ⓐ", "ⅷ ⓐ"},
      {"ẞ Ω K Å", "ß ω k å"},
      {"𐐀𐐁 𞤀", "𐐨𐐩 𞤢"},
      {"中文 😀", "中文 😀"},
      {"ა Ა Ꭰ ꭰ", "ა ა ꭰ ꭰ"},
  };
  for (const auto& [text, expected] : lines) EXPECT_EQ(unicode::lowercase(text), expected) << text;
}

void expect_category(std::u32string_view characters, Category expected) {
  for (char32_t c : characters) EXPECT_EQ(unicode::category(c), expected) << static_cast<uint32_t>(c);
}

TEST(UnicodeText, knows_the_categories) {
  expect_category(U"!.,-_(“«。、؟…", Category::punctuation);
  expect_category(U"$+<^`|~€©°→😀🫨", Category::symbol);
  expect_category(U"09²½Ⅷ٣〇", Category::number);
  expect_category(U"aZß中ªʰ", Category::letter);
  expect_category(U"\u0301\u05b0", Category::mark);
  expect_category(U"\x01\u200d\ue000", Category::control);
  expect_category(U" \u0903\x10FFFF", Category::other);
}

TEST(UnicodeText, decomposes_characters) {
  auto decomposed = [](char32_t c) {
    std::u32string text;
    unicode::append_decomposed(text, c);
    return text;
  };
  EXPECT_EQ(decomposed(U'a'), U"a");
  EXPECT_EQ(decomposed(U'é'), U"e\u0301");
  EXPECT_EQ(decomposed(U'ệ'), U"e\u0323\u0302");
  EXPECT_EQ(decomposed(U'각'), U"\u1100\u1161\u11a8");
  EXPECT_EQ(decomposed(U'가'), U"\u1100\u1161");
  EXPECT_EQ(decomposed(U'Å'), U"A\u030a");
}

TEST(UnicodeText, splits_at_every_kind_of_space) {
  EXPECT_THAT(unicode::split("\t a\u00A0b\u3000\u2009c\x1F"
                             "d\u200Be \n"),
              ElementsAre("a", "b", "c", "d\u200Be"));
  EXPECT_TRUE(unicode::split("").empty());
  EXPECT_TRUE(unicode::split(" \u2028 ").empty());
}

TEST(UnicodeText, loses_space_at_its_end_only) {
  EXPECT_EQ(unicode::without_trailing_space(" a b \u3000\r\n"), " a b");
  EXPECT_EQ(unicode::without_trailing_space(" \t "), "");
  EXPECT_EQ(unicode::without_trailing_space("é"), "é");
}

}  // namespace
}  // namespace synthesizer::testing
