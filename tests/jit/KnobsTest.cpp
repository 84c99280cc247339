#include "compiler/jit/Knobs.h"

#include <gtest/gtest.h>
#include <map>

namespace fw::jit {
namespace {

Environment environmentOf(std::map<std::string, std::string> values) {
  return [values](const char *name) {
    auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

TEST(Knobs, unsetAndEmptyVariablesGiveTheTable) {
  Result<Settings> settings = Settings::read(environmentOf({{"FUSEWRIGHT_CACHE_SIZE", ""}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->number(Knob::cache_size), int64_t(2) << 30);
  EXPECT_EQ(settings->text(Knob::cache_dir), "");
  EXPECT_FALSE(settings->flag(Knob::strict));
  EXPECT_EQ(settings->number(Knob::log), 2);
  EXPECT_FALSE(settings->isSet(Knob::cache_size));
}

TEST(Knobs, everyTypeIsRead) {
  Result<Settings> settings = Settings::read(environmentOf({{"FUSEWRIGHT_CACHE_DIR", "/c"},
                                                            {"FUSEWRIGHT_CACHE_SIZE", "512M"},
                                                            {"FUSEWRIGHT_STRICT", "1"},
                                                            {"FUSEWRIGHT_NUM_THREADS", "12"},
                                                            {"FUSEWRIGHT_LOG", "debug"},
                                                            {"FUSEWRIGHT_CPU_FEATURES", "+avx2"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->text(Knob::cache_dir), "/c");
  EXPECT_EQ(settings->number(Knob::cache_size), int64_t(512) << 20);
  EXPECT_TRUE(settings->flag(Knob::strict));
  EXPECT_EQ(settings->number(Knob::num_threads), 12);
  EXPECT_EQ(settings->number(Knob::log), 4);
  EXPECT_EQ(settings->text(Knob::cpu_features), "+avx2");
  EXPECT_TRUE(settings->isSet(Knob::strict));
}

TEST(Knobs, pathsAreSeparatedByColons) {
  Result<Settings> settings =
      Settings::read(environmentOf({{"FUSEWRIGHT_CACHE_READ_ONLY", ":/a:/b c::"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->paths(Knob::cache_read_only), (std::vector<std::string>{"/a", "/b c"}));
  EXPECT_TRUE(Settings().paths(Knob::cache_read_only).empty());
}

TEST(Knobs, badValuesNameTheVariableTheValueAndWhatIsAccepted) {
  const std::pair<std::map<std::string, std::string>, std::string> rows[] = {
      {{{"FUSEWRIGHT_STRICT", "maybe"}}, "expected 0 or 1 in FUSEWRIGHT_STRICT, got 'maybe'"},
      {{{"FUSEWRIGHT_NUM_THREADS", "-1"}},
       "expected a whole number from 0 in FUSEWRIGHT_NUM_THREADS, got '-1'"},
      {{{"FUSEWRIGHT_CACHE_SIZE", "2X"}},
       "expected bytes such as 4096, 512M or 2G in FUSEWRIGHT_CACHE_SIZE, got '2X'"},
      {{{"FUSEWRIGHT_CACHE_SIZE", "99999999999T"}},
       "expected bytes such as 4096, 512M or 2G in FUSEWRIGHT_CACHE_SIZE, got '99999999999T'"},
      {{{"FUSEWRIGHT_LOG", "loud"}},
       "expected one of off|error|warning|info|debug in FUSEWRIGHT_LOG, got 'loud'"},
  };
  for (const auto &[values, text] : rows) {
    Result<Settings> settings = Settings::read(environmentOf(values));
    ASSERT_FALSE(settings) << text;
    EXPECT_EQ(settings.error().code, Code::USAGE);
    EXPECT_EQ(settings.error().text, text);
    EXPECT_NE(settings.error().remedy, "");
  }
}

TEST(Knobs, doctorHearsOfEveryWrongValue) {
  std::vector<Error> wrong;
  Settings settings = Settings::read(environmentOf({{"FUSEWRIGHT_STRICT", "maybe"},
                                                    {"FUSEWRIGHT_LOG", "loud"},
                                                    {"FUSEWRIGHT_CACHE_DIR", "/c"}}),
                                     wrong);
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_NE(wrong[0].text.find("FUSEWRIGHT_STRICT"), std::string::npos);
  EXPECT_NE(wrong[1].text.find("FUSEWRIGHT_LOG"), std::string::npos);
  EXPECT_FALSE(settings.flag(Knob::strict));
  EXPECT_EQ(settings.number(Knob::log), 2);
  EXPECT_EQ(settings.text(Knob::cache_dir), "/c");
}

TEST(Knobs, bytesHaveUnits) {
  EXPECT_EQ(parseBytes("4096"), 4096);
  EXPECT_EQ(parseBytes("3K"), 3072);
  for (const char *text : {"", "K", "-1", "1.5G", "99999999999T"})
    EXPECT_EQ(parseBytes(text), std::nullopt) << text;
}

TEST(Knobs, valuesSetByAProgramAreCheckedAlike) {
  Settings settings;
  EXPECT_TRUE(settings.set(Knob::strict, "1"));
  EXPECT_TRUE(settings.flag(Knob::strict));
  EXPECT_FALSE(settings.set(Knob::strict, "2"));
  EXPECT_TRUE(settings.flag(Knob::strict)) << "a refused value changes nothing";
}

TEST(Knobs, tableHasARowPerKnob) {
  std::string table = knobsTable();
  EXPECT_EQ(size_t(std::count(table.begin(), table.end(), '\n')), knobs().size() + 2);
  for (const KnobRow &row : knobs())
    EXPECT_NE(table.find("`" + variableName(row) + "`"), std::string::npos);
}

} // namespace
} // namespace fw::jit
