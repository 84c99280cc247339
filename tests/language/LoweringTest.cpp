// Checked op -> semantic level: one golden per shipped op and set of options in semantic/, and what single
// constructs become. Run with FW_UPDATE=1 to write the goldens anew, then read the difference.
#include "tests/language/support.h"

#include "compiler/language/Lowering.h"
#include "compiler/dialect/Fuse.h"
#include "ops/Profiles.h"
#include "ops/ShippedOps.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace fw::language;

namespace {

std::string moduleText(const OpHandle &op, const OptionValues &options,
                       const std::set<std::string> &absent = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<fw::fuse::FuseDialect>();
  fw::Result<ResolvedOp> resolved = resolve(*op, options);
  if (!resolved)
    return fw::render(resolved.error());
  auto module = lowerOp(context, *resolved, absent);
  if (!module)
    return fw::render(module.error()) + "\n" + module.error().log;
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream);
  return text + "\n";
}

/// The operations of the body of opWith(body), without labels of their own.
std::string bodyOf(std::string_view body, const std::set<std::string> &absent = {},
                   std::string_view declarations = "in x;  out y;  hyper a = 1") {
  std::string text = moduleText(parsed("op test over elements {\n" + std::string(declarations) +
                                       "\n" + std::string(body) + "\n}"),
                                {}, absent);
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("    "))
      out += line.substr(4) + "\n";
  return out;
}

std::string nameOf(const fw::Profile &profile) {
  std::string name = profile.op;
  for (const auto &[option, value] : profile.options)
    name += "_" + option + "_" + value;
  return name;
}

/// The profiles with different options: dtypes and features come after this level.
std::vector<fw::Profile> goldens() {
  std::map<std::string, fw::Profile> byName;
  for (const fw::Profile &profile : fw::shippedProfiles())
    byName.emplace(nameOf(profile), profile);
  std::vector<fw::Profile> out;
  for (const auto &[name, profile] : byName)
    out.push_back(profile);
  return out;
}

class Golden : public testing::TestWithParam<fw::Profile> {};

} // namespace

TEST_P(Golden, IsWhatTheShippedOpBecomes) {
  std::filesystem::path path = std::filesystem::path(FW_SEMANTIC) / (nameOf(GetParam()) + ".mlir");
  std::string got = moduleText(*fw::findShippedOp(GetParam().op), GetParam().options);
  if (std::getenv("FW_UPDATE"))
    std::ofstream(path, std::ios::binary) << got;
  std::ostringstream expected;
  expected << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(got, expected.str());
}

INSTANTIATE_TEST_SUITE_P(Lowering, Golden, testing::ValuesIn(goldens()),
                         [](const auto &info) { return nameOf(info.param); });
