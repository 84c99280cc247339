// One file per kind of mistake in mistakes/, with the diagnostics it must give beside it. Run with
// FW_UPDATE=1 to write what the compiler says now, then read the difference.
#include "tests/language/support.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

std::string readFile(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> mistakes() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(FW_MISTAKES))
    if (entry.path().extension() == ".fuse")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// What the compiler says: the errors, or the warnings of a text without one.
std::string diagnosticsOf(const std::filesystem::path &path) {
  auto file = fw::language::OpFile::parse(readFile(path), path.filename().string());
  return file ? (*file)->warnings() : file.error().log;
}

class Mistake : public testing::TestWithParam<std::string> {};

} // namespace

TEST_P(Mistake, IsReportedWithItsPlaceAndRemedy) {
  std::filesystem::path base = std::filesystem::path(FW_MISTAKES) / GetParam();
  std::string got = diagnosticsOf(base.string() + ".fuse");
  if (std::getenv("FW_UPDATE"))
    std::ofstream(base.string() + ".txt", std::ios::binary) << got;
  EXPECT_EQ(got, readFile(base.string() + ".txt"));
  EXPECT_NE(got, "") << "a file of mistakes/ has no mistake";
}

INSTANTIATE_TEST_SUITE_P(Mistakes, Mistake, testing::ValuesIn(mistakes()),
                         [](const auto &info) { return info.param; });
