// Enums by the names that users write.

#include "base/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace synthesizer {
namespace {

enum class Fruit { apple, pear, plum };
Choices choices(Fruit) {
  static constexpr ChoiceName names[] = {{"apple"}, {"pear", "or quince"}, {"plum"}};
  return names;
}

TEST(Choice, HasOneNameForEachValue) {
  EXPECT_EQ(choice_name(Fruit::pear), "pear");
  EXPECT_EQ(choose<Fruit>("fruit", "plum"), Fruit::plum);
  EXPECT_EQ(find_choice(choices(Fruit{}), "cherry"), std::nullopt);
}

TEST(Choice, IsListedForHelpAndForMessages) {
  EXPECT_EQ(list_of(choices(Fruit{})), "apple, pear (or quince) or plum");
  EXPECT_THAT(names_of(choices(Fruit{})), ::testing::ElementsAre("apple", "pear", "plum"));
}

TEST(Choice, NamesTheNearestOfWhatIsAllowed) {
  try {
    choose<Fruit>("data.fruit", "peer");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(),
                 "data.fruit is \"peer\": it must be apple, pear or plum, did you mean 'pear'?");
  }
}

TEST(Choice, IsReadAndSetThroughAReference) {
  Fruit fruit = Fruit::apple;
  const ChoiceReference reference(&fruit);
  EXPECT_EQ(reference.name(), "apple");
  reference.set("fruit", "plum");
  EXPECT_EQ(fruit, Fruit::plum);
  EXPECT_THROW(reference.set("fruit", "Plum"), InvalidInput);
  EXPECT_EQ(fruit, Fruit::plum);
}

}  // namespace
}  // namespace synthesizer
