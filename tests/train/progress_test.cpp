#include "train/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/number_text.h"
#include "train/progress_format.h"
#include "train/terminal.h"

namespace synthesizer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgressState state(int64_t step, bool report = false) {
  return {.step = step,
          .loss = 1.9123,
          .tokens_per_second = 14200.4,
          .seconds_left = 42,
          .learning_rate = 1e-3,
          .report = report};
}

/// Sets a variable, or removes it, for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, set_ = true;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~Variable() { set_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::string old_;
  bool set_ = false;
};

class ProgressTest : public ::testing::Test {
 protected:
  Variable term_{"TERM", "xterm"};
  Variable no_color_{"NO_COLOR", nullptr};
};

std::string plain_output(const std::function<void(Progress&)>& use) {
  std::FILE* file = std::tmpfile();
  {
    Progress progress(2000, 0, "R+V", file);
    use(progress);
  }
  std::string text(static_cast<size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  return text;
}

TEST_F(ProgressTest, ElsewhereThanOnATerminalReportsArePlainLines) {
  EXPECT_EQ(plain_output([](Progress& progress) {
              progress.update(state(1, false));
              progress.update(state(1200, true));
              progress.line("dev  loss 2.0");
              progress.update(state(2000, true));
              progress.finish();
            }),
            "step 1,200/2,000  loss 1.912  lr 1.0e-03  14,200 tok/s  0:42 left\n"
            "dev  loss 2.0\n"
            "step 2,000/2,000  loss 1.912  lr 1.0e-03  14,200 tok/s  0:42 left\n");
}

TEST_F(ProgressTest, WhatIsNotKnownIsLeftOut) {
  EXPECT_EQ(plain_output([](Progress& progress) {
              progress.update({.step = 1, .loss = 2, .report = true});
              progress.update({.step = 2, .loss = NAN, .tokens_per_second = INFINITY, .report = true});
            }),
            "step 1/2,000  loss 2.000\nstep 2/2,000  loss nan\n");
}

TEST_F(ProgressTest, APipeGetsLinesAtOnce) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  std::FILE* file = ::fdopen(ends[1], "w");
  Progress progress(10, 0, "x", file);
  progress.update(state(5, true));
  char buffer[200] = {};
  EXPECT_GT(::read(ends[0], buffer, sizeof buffer - 1), 0);
  EXPECT_STREQ(buffer, "step 5/10  loss 1.912  lr 1.0e-03  14,200 tok/s  0:42 left\n");
  progress.finish();
  std::fclose(file);
  ::close(ends[0]);
}

TEST_F(ProgressTest, ATerminalShowsABar) {
  Terminal terminal(80);
  {
    Progress progress(2000, 0, "R+V", terminal.file);
    progress.update(state(1200));
  }
  const std::string text = terminal.text();
  EXPECT_EQ(drawn(text).back(),
            "R+V  ━━━━━━━━━━━━━━──────────  1,200/2,000  loss 1.912  14,200 tok/s  0:42 left");
  EXPECT_TRUE(text.ends_with("\n"));
  EXPECT_THAT(text, HasSubstr("\x1b[36m━"));
}

TEST_F(ProgressTest, ATerminalShowsWhereAResumedRunBegins) {
  Terminal terminal(60);
  { Progress progress(2000, 1000, "R+V", terminal.file); }
  EXPECT_EQ(drawn(terminal.text()).front(), "R+V  ━━━━━━━━━━━━━━━━━━━━────────────────────  1,000/2,000");
}

TEST_F(ProgressTest, ColourIsLeftOutWhereAsked) {
  Variable no_color("NO_COLOR", "1");
  Terminal terminal(80);
  {
    Progress progress(2000, 0, "R+V", terminal.file);
    progress.update(state(1200));
  }
  EXPECT_THAT(terminal.text(), Not(HasSubstr("\x1b[36m")));
}

TEST_F(ProgressTest, BesideOthersATerminalGetsLinesThatSayWhoseTheyAre) {
  Terminal terminal(80);
  {
    Progress progress(2000, 0, "2/5 R+V", terminal.file, true);
    progress.update(state(1200, true));
    progress.line("dev  loss 2.0");
  }
  EXPECT_EQ(terminal.text(),
            "2/5 R+V: step 1,200/2,000  loss 1.912  lr 1.0e-03  14,200 tok/s  0:42 left\n"
            "2/5 R+V: dev  loss 2.0\n");
}

TEST_F(ProgressTest, ADumbTerminalGetsPlainLines) {
  Variable term("TERM", "dumb");
  Terminal terminal(80);
  {
    Progress progress(2000, 0, "R+V", terminal.file);
    progress.update(state(1200, true));
  }
  EXPECT_EQ(terminal.text(), "step 1,200/2,000  loss 1.912  lr 1.0e-03  14,200 tok/s  0:42 left\n");
}

TEST_F(ProgressTest, TheLineFitsEveryWidth) {
  for (unsigned short width = 1; width < 130; ++width) {
    Terminal terminal(width);
    {
      Progress progress(2'000'000, 0, "größe 大 of a long title", terminal.file);
      progress.update(state(1'200'000));
    }
    for (const auto& line : drawn(terminal.text())) EXPECT_LT(columns(line), width) << line;
  }
}

TEST_F(ProgressTest, WhereItIsNarrowTheSpeedGoesThenTheBar) {
  const auto shown = [](unsigned short width) {
    Terminal terminal(width);
    {
      Progress progress(2000, 0, "R+V", terminal.file);
      progress.update(state(1200));
    }
    return drawn(terminal.text()).back();
  };
  EXPECT_EQ(shown(60), "R+V  ━━━━━━━━━━╸───────  1,200/2,000  loss 1.912  0:42 left");
  EXPECT_EQ(shown(45), "R+V  1,200/2,000  loss 1.912  0:42 left");
  EXPECT_EQ(shown(25), "R+V  1,200/2,000  loss …");
}

TEST_F(ProgressTest, ANewWidthIsTakenUp) {
  Terminal terminal(120);
  {
    Progress progress(2000, 0, "R+V", terminal.file);
    terminal.resize(40);
  }
  const auto lines = drawn(terminal.text());
  EXPECT_EQ(columns(lines.front()), 54);  // a bar at its longest
  EXPECT_LT(columns(lines.back()), 40);
}

TEST_F(ProgressTest, AnUnknownWidthIsTakenForEighty) {
  Terminal terminal(0);
  {
    Progress progress(2000, 0, "R+V", terminal.file);
    progress.update(state(1200));
  }
  EXPECT_EQ(columns(drawn(terminal.text()).back()), 79);
}

TEST_F(ProgressTest, ItIsRedrawnTenTimesASecondAtMost) {
  Terminal terminal(80);
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress(100'000, 0, "R+V", terminal.file);
    for (int step = 1; step <= 50'000; ++step) progress.update(state(step));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto lines = drawn(terminal.text());
  EXPECT_LE(static_cast<double>(lines.size()), 2 + 10 * seconds.count());
  EXPECT_THAT(lines.back(), HasSubstr("50,000/100,000"));
}

TEST_F(ProgressTest, ItIsRedrawnAfterAWhile) {
  Terminal terminal(80);
  {
    Progress progress(100, 0, "R+V", terminal.file);
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    progress.update(state(50));
    progress.update(state(51));
  }
  const auto lines = drawn(terminal.text());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[1], HasSubstr("50/100"));
  EXPECT_THAT(lines[2], HasSubstr("51/100"));
}

TEST_F(ProgressTest, LinesStandAboveTheBar) {
  Terminal terminal(80);
  {
    Progress progress(100, 0, "R+V", terminal.file);
    progress.line("dev  loss 2.000");
  }
  const std::string text = terminal.text();
  EXPECT_THAT(text, HasSubstr("\r\x1b[Kdev  loss 2.000\n\rR+V  "));
  EXPECT_EQ(drawn(text).size(), 4u);  // the bar, the line, the bar again, and as it is left
}

TEST_F(ProgressTest, AfterTheEndThereIsNoBar) {
  Terminal terminal(80);
  {
    Progress progress(100, 0, "R+V", terminal.file);
    progress.finish();
    progress.finish();
    progress.line("saved");
  }
  const std::string text = terminal.text();
  EXPECT_TRUE(text.ends_with("\x1b[K\nsaved\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST_F(ProgressTest, OddCountsDoNoHarm) {
  Terminal terminal(80);
  {
    Progress progress(0, 0, "", terminal.file);
    progress.update(state(7));
  }
  EXPECT_THAT(drawn(terminal.text()).back(), HasSubstr("━  7/0  loss 1.912"));
}

}  // namespace
}  // namespace synthesizer
