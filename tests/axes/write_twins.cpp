// write-row-twins FOLDER LIST...: emits into FOLDER the CUDA text of the kernels that launches of
// the shipped ops over rows ask for on the fake device, and writes their files' names into the
// lists, in turns.
#include "compiler/Stages.h"
#include "ops/Profiles.h"
#include "ops/ShippedOps.h"
#include "tests/axes/Twins.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

using namespace fw;

template <class T> static T need(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "write-row-twins: %s\n%s\n", render(result.error()).c_str(),
                 result.error().log.c_str());
    std::exit(1);
  }
  return std::move(*result);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "write-row-twins: expected FOLDER LIST...\n");
    return 2;
  }
  const std::filesystem::path folder = std::filesystem::absolute(argv[1]);
  std::filesystem::create_directories(folder);
  std::vector<std::ofstream> lists(argv + 2, argv + argc);
  size_t count = 0;
  std::set<std::filesystem::path> written;
  const std::vector<Profile> profiles = evaluatedProfiles();
  for (size_t p = 0; p < profiles.size(); ++p)
    for (const axes::Twin &twin : axes::twinsOf(p, profiles[p])) {
      Request request{.op = need(findShippedOp(profiles[p].op)), .options = profiles[p].options};
      for (const auto &[operand, dtype] : profiles[p].dtypes)
        request.dtypes[operand] = dtype;
      request.target = axes::twinTarget;
      request.facts = twin.facts;
      Lowered lowered = need(lower(need(resolve(request))));
      const std::filesystem::path file =
          folder / (lowered.record.kernels.front().launch.symbol + ".cu");
      if (!written.insert(file).second)
        continue; // another profile has the same kernel
      std::ofstream(file) << lowered.sources.front();
      lists[count++ % lists.size()] << file.string() << "\n";
    }
  return 0;
}
