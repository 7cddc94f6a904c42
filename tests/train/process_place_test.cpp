// Where a process stands, as torchrun's variables say it.

#include "train/process_place.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "base/error.h"

namespace synthesizer::testing {
namespace {

class Place : public ::testing::Test {
 protected:
  Place() { clear(); }
  ~Place() override { clear(); }
  static void clear() {
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
                             "MASTER_PORT", "TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_RESTART_COUNT"}) {
      ::unsetenv(name);
    }
  }
  static void set(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
};

TEST_F(Place, is_none_without_variables_or_for_one_process) {
  EXPECT_FALSE(place_from_environment());
  set({{"WORLD_SIZE", "1"}, {"RANK", "0"}});
  EXPECT_FALSE(place_from_environment());
}

TEST_F(Place, is_refused_for_a_rank_of_one_process_that_is_not_0) {
  set({{"WORLD_SIZE", "1"}, {"RANK", "1"}});
  EXPECT_THROW(place_from_environment(), InvalidInput);
}

TEST_F(Place, is_refused_where_the_number_of_processes_alone_is_missing) {
  for (const char* rank : {"0", "1"}) {
    clear();
    set({{"RANK", rank}});
    EXPECT_FALSE(place_from_environment()) << "another program's";
    for (const char* other : {"MASTER_ADDR", "MASTER_PORT"}) {
      clear();
      set({{"RANK", rank}, {other, "1"}});
      EXPECT_THROW(place_from_environment(), InvalidInput) << other;
    }
  }
}

TEST_F(Place, leaves_the_processes_of_a_machine_to_be_counted) {
  set({{"WORLD_SIZE", "2"},
       {"RANK", "1"},
       {"LOCAL_RANK", "1"},
       {"MASTER_ADDR", "127.0.0.1"},
       {"MASTER_PORT", "29500"}});
  const auto place = place_from_environment();
  ASSERT_TRUE(place);
  EXPECT_EQ(place->local_size, 0);
}

TEST_F(Place, is_read_from_the_variables) {
  set({{"WORLD_SIZE", "4"},
       {"RANK", "3"},
       {"LOCAL_WORLD_SIZE", "2"},
       {"MASTER_ADDR", "node1"},
       {"MASTER_PORT", "29500"}});
  const auto place = place_from_environment();
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->size, 4);
  EXPECT_EQ(place->local_size, 2);
  EXPECT_EQ(place->address, "node1");
  EXPECT_EQ(place->port, 29500);
  EXPECT_FALSE(place->external_store);
  EXPECT_EQ(place->prefix, "");
}

TEST_F(Place, has_keys_of_its_own_at_every_restart_by_torchrun) {
  set({{"WORLD_SIZE", "2"},
       {"RANK", "0"},
       {"MASTER_ADDR", "a"},
       {"MASTER_PORT", "1"},
       {"TORCHELASTIC_USE_AGENT_STORE", "True"},
       {"TORCHELASTIC_RESTART_COUNT", "3"}});
  const auto place = place_from_environment();
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->external_store);
  EXPECT_EQ(place->restarts, 3);
  EXPECT_EQ(place->prefix, "/worker/attempt_3");
}

TEST_F(Place, is_refused_where_a_variable_is_missing_or_out_of_its_range) {
  const std::map<std::string, std::string> good = {
      {"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "29500"}};
  for (const auto& [name, bad] : std::map<std::string, std::string>{
           {"RANK", "2"}, {"MASTER_PORT", "70000"}, {"WORLD_SIZE", "two"}, {"MASTER_ADDR", ""}}) {
    clear();
    set(good);
    set({{name, bad}});
    try {
      place_from_environment();
      FAIL() << name;
    } catch (const InvalidInput& mistake) {
      EXPECT_NE(std::string(mistake.what()).find(name), std::string::npos) << mistake.what();
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
