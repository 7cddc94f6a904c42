#include "train/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/file.h"
#include "train/crc32c.h"

namespace synthesizer {
namespace {

using ::testing::MatchesRegex;

template <typename T>
T number(const std::string& bytes, size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

/// The data of each record; every sum is checked.
std::vector<std::string> records(const std::string& path) {
  const std::string file = read_file(path);
  std::vector<std::string> all;
  for (size_t place = 0; place < file.size();) {
    const auto length = number<uint64_t>(file, place);
    EXPECT_EQ(number<uint32_t>(file, place + 8), masked_crc32c(file.substr(place, 8)));
    all.push_back(file.substr(place + 12, length));
    EXPECT_EQ(number<uint32_t>(file, place + 12 + length), masked_crc32c(all.back()));
    place += 16 + length;
  }
  return all;
}

/// A number of seven bits a byte, the lowest first; goes on behind it.
uint64_t varint(const std::string& bytes, size_t& place) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at(place++));
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

/// The fields of a message by number: bytes of strings and messages, eight bytes of any number.
std::map<int, std::string> fields(const std::string& message) {
  std::map<int, std::string> all;
  for (size_t place = 0; place < message.size();) {
    const uint64_t key = varint(message, place), type = key & 7;
    std::string value(8, '\0');
    if (type == 0) {
      const uint64_t wide = varint(message, place);
      std::memcpy(value.data(), &wide, 8);
    } else {
      const uint64_t size = type == 1 ? 8 : type == 5 ? 4 : varint(message, place);
      EXPECT_LE(place + size, message.size());
      value = message.substr(place, size);
      if (type == 5) value.resize(8);
      place += size;
    }
    all[static_cast<int>(key >> 3)] = value;
  }
  return all;
}

int64_t step_of(const std::string& event) {
  return number<int64_t>(fields(event).at(2), 0);
}

class EventFileTest : public ::testing::Test {
 protected:
  EventFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "events_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~EventFileTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(EventFileTest, IsNamedAsTensorBoardWants) {
  const EventFile file(folder_, -1);
  EXPECT_THAT(file.path(), MatchesRegex(".*/events.out.tfevents.[0-9]{10}.synth.[0-9]+.[0-9]+"));
  EXPECT_TRUE(std::filesystem::exists(file.path()));
}

TEST_F(EventFileTest, BeginsWithItsVersionAndASession) {
  const EventFile file(folder_, -1);
  const auto all = records(file.path());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(fields(all[0]).at(3), "brain.Event:2");
  EXPECT_EQ(step_of(all[1]), 0);
  EXPECT_EQ(number<int64_t>(fields(fields(all[1]).at(7)).at(1), 0), 1);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  EXPECT_NEAR(number<double>(fields(all[0]).at(1), 0), now.count(), 60);
}

TEST_F(EventFileTest, ScalarsAreFloatsWithTagAndStep) {
  EventFile file(folder_, -1);
  file.scalar("train/loss", 1'000'000'000'000, 1.25);
  file.scalar("größe", 0, -INFINITY);
  file.flush();
  const auto all = records(file.path());
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(step_of(all[2]), 1'000'000'000'000);
  const auto first = fields(fields(fields(all[2]).at(5)).at(1));
  EXPECT_EQ(first.at(1), "train/loss");
  EXPECT_EQ(number<float>(first.at(2), 0), 1.25F);
  const auto second = fields(fields(fields(all[3]).at(5)).at(1));
  EXPECT_EQ(second.at(1), "größe");
  EXPECT_EQ(number<float>(second.at(2), 0), -INFINITY);
}

TEST_F(EventFileTest, TextsAreStringTensorsOfTheTextPlugin) {
  EventFile file(folder_, -1);
  const std::string long_text(300, 'x');
  file.text("sample", 7, long_text);
  file.flush();
  const auto value = fields(fields(fields(records(file.path()).at(2)).at(5)).at(1));
  EXPECT_EQ(value.at(1), "sample");
  EXPECT_EQ(fields(fields(value.at(9)).at(1)).at(1), "text");
  const auto tensor = fields(value.at(8));
  EXPECT_EQ(number<int64_t>(tensor.at(1), 0), 7);
  EXPECT_EQ(tensor.at(8), long_text);
}

TEST_F(EventFileTest, FlushPutsRecordsIntoTheFile) {
  EventFile file(folder_, -1);
  for (int step = 0; step < 10; ++step) file.scalar("loss", step, step);
  file.flush();
  EXPECT_EQ(records(file.path()).size(), 12u);
}

TEST_F(EventFileTest, TheEndPutsRecordsIntoTheFile) {
  std::string path;
  {
    EventFile file(folder_, -1);
    file.scalar("loss", 1, 1);
    path = file.path();
  }
  EXPECT_EQ(records(path).size(), 3u);
}

TEST_F(EventFileTest, AResumedRunStartsASessionAfterTheLastStepThatCounts) {
  const EventFile file(folder_, 20);
  const auto all = records(file.path());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(step_of(all[1]), 21);
  EXPECT_EQ(number<int64_t>(fields(fields(all[1]).at(7)).at(1), 0), 1);
}

TEST_F(EventFileTest, ARunResumedBeforeItsFirstStepStartsASessionToo) {
  const EventFile file(folder_, 0);
  EXPECT_EQ(step_of(records(file.path()).at(1)), 1);
}

TEST_F(EventFileTest, ALaterFileSortsAfterAllThatAreThere) {
  write_file(folder_ + "/events.out.tfevents.9876543210.elsewhere.1.0", "");
  write_file(folder_ + "/events.out.tfevents.", "");
  write_file(folder_ + "/notes.txt", "");
  std::string last = folder_ + "/events.out.tfevents.9876543210.elsewhere.1.0";
  for (int i = 0; i < 12; ++i) {
    const EventFile file(folder_, i);
    EXPECT_GT(file.path(), last);
    last = file.path();
  }
}

TEST_F(EventFileTest, AFolderThatIsNotThereIsRefused) {
  try {
    EventFile(folder_ + "/none", -1);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("cannot be written: No such file or directory"));
  }
}

}  // namespace
}  // namespace synthesizer
