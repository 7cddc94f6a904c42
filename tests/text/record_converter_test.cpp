// Records of files that become examples of another shape; labels as tokens.

#include "text/corpus.h"
#include "text/examples.h"
#include "text/label_tokenizer.h"

namespace synthesizer::testing {
namespace {

/// The first line of a file is a header; every other gives as many examples as its first field says.
class Repeater : public RecordConverter {
 public:
  size_t fields() const override { return 2; }
  void convert(std::vector<std::string>& record, int64_t line, const std::string& where,
               std::vector<std::vector<std::string>>& examples) override {
    if (line == 1) return;
    for (int i = 0; i < std::stoi(record[0]); ++i) examples.push_back({where, record[1]});
  }
};

class RecordConverterTest : public StoreTest {
 protected:
  Files files(const std::string& shape = "repeat") {
    Files made;
    made.paths = {write("a.tsv", "n\tnumbers\n2\t5 6\n0\t1\n1\t7\n"), write("b.tsv", "n\tnumbers\n1\t8\n")};
    made.converter = [] { return std::make_unique<Repeater>(); };
    made.converter_key = shape;
    return made;
  }
};

TEST_F(RecordConverterTest, GivesSeveralExamplesARecordOrNone) {
  ExampleReader reader(files());
  EXPECT_EQ(reader.fields(), 2u);
  std::vector<std::string> texts, places;
  for (std::vector<std::string> fields; reader.next(fields);) {
    places.push_back(fields[0]);
    texts.push_back(fields[1]);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"5 6", "5 6", "7", "8"}));
  EXPECT_EQ(places, (std::vector<std::string>{path("a.tsv") + ":2", path("a.tsv") + ":2",
                                              path("a.tsv") + ":4", path("b.tsv") + ":2"}));
}

TEST_F(RecordConverterTest, AStoreKnowsTheLineOfEveryExample) {
  class Second : public Repeater {
   public:
    size_t fields() const override { return 1; }
    void convert(std::vector<std::string>& record, int64_t line, const std::string& where,
                 std::vector<std::vector<std::string>>& examples) override {
      Repeater::convert(record, line, where, examples);
      for (auto& example : examples) example.erase(example.begin());
    }
  };
  StoreOptions made = options({"a"});
  made.files = files();
  made.files.converter = [] { return std::make_unique<Second>(); };
  const auto store = TokenStore::open(made);
  ASSERT_EQ(store.size(), 4);
  EXPECT_EQ(store.where(1), path("a.tsv") + ":2");
  EXPECT_EQ(store.where(2), path("a.tsv") + ":4");
  EXPECT_EQ(store.where(3), path("b.tsv") + ":2");
  EXPECT_TRUE(TokenStore::open(made).reused());
  made.files.converter_key = "another";
  EXPECT_FALSE(TokenStore::open(made).reused());
}

TEST(LabelTokenizer, IsOneTokenALabel) {
  const LabelTokenizer labels({"good", "not so good"});
  EXPECT_EQ(labels.encode("not so good"), Tokens{1});
  EXPECT_EQ(labels.piece(0), "good");
  EXPECT_EQ(labels.decode(Tokens{1}), "not so good");
  EXPECT_EQ(labels.size(), 2);
  EXPECT_NE(labels.serialized(), LabelTokenizer({"not so good", "good"}).serialized());
  EXPECT_NE(mistake([&] { labels.encode("bad"); }).find("'bad' is none of the labels good, not so good"),
            std::string::npos);
}

}  // namespace
}  // namespace synthesizer::testing
