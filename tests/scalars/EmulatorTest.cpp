// The emitted kernel `fw_scalars` on the emulator against jit::run, bit for bit: the scalar
// programs of all shipped ops, every operation at its edges, counters, and mutants that must not
// pass.
#include "tests/emulator/Emulator.h"
#include "compiler/Stages.h"
#include "ops/Profiles.h"
#include "ops/ShippedOps.h"
#include "templates/vocab/scalar_memory.h"
#include "tests/scalars/Case.h"
#include "tests/scalars/Kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace fw::scalars {

std::optional<std::string> emulate(const EmulatedKernel &kernel, const ScalarsLaunch &launch,
                                   uint64_t seed) {
  return emulator::run({.grid = 1, .threads = ScalarsLaunch::THREADS, .seed = seed},
                       [&] { kernel.enter(&launch); });
}

namespace {

using jit::ScalarProgram;
using Kind = jit::ScalarInput::Kind;
using Random = std::mt19937_64;

/// What is wrong with what `kernel` makes of the case: nothing, a fault or a difference.
std::string run(const EmulatedKernel &kernel, Case &data, uint64_t seed) {
  auto fault = emulate(kernel, data.prepare(), seed);
  return fault ? *fault : data.compare();
}
std::string run(Case &data, uint64_t seed = 1) { return run(fw_scalars_kernels[0], data, seed); }

// --- Programs of the shipped ops -----------------------------------------------------------------

struct Shipped {
  std::string name;
  jit::ProgramRecord record;
};

/// Of all shipped profiles, each op's stages that differ.
std::vector<Shipped> shippedPrograms() {
  std::vector<Shipped> programs;
  for (const Profile &profile : shippedProfiles()) {
    Request request;
    request.op = *findShippedOp(profile.op);
    request.options = profile.options;
    request.dtypes = {profile.dtypes.begin(), profile.dtypes.end()};
    request.features = {profile.features.begin(), profile.features.end()};
    auto lowered = lower(*resolve(request));
    EXPECT_TRUE(lowered) << profile.op;
    bool isNew = lowered && std::ranges::none_of(programs, [&](const Shipped &known) {
                   return known.name == profile.op && known.record.stages == lowered->record.stages;
                 });
    if (isNew)
      programs.push_back({profile.op, std::move(lowered->record)});
  }
  return programs;
}

/// Within the hyper's range, or near it where that has no end.
double randomHyper(const jit::HyperRecord &hyper, Random &random) {
  double low = std::max(hyper.low, -10.0), high = std::min(hyper.high, low + 20);
  double value = std::uniform_real_distribution(low, high)(random);
  return hyper.type == "real" ? value : hyper.type == "bool" ? value > 0.5 : std::floor(value);
}

double randomInput(const jit::ProgramRecord &record, const jit::ScalarInput &input,
                   Random &random) {
  switch (input.kind) {
  case Kind::Hyper:
    return randomHyper(record.hypers[input.index], random);
  case Kind::Reduction:
  case Kind::Operand:
    return random() % 20 ? std::ldexp(double(random() % 1000), int(random() % 30) - 20)
                         : INFINITY; // where a run may skip
  default:
    return double(1 + random() % 5000); // a size or a number of a tensor
  }
}

/// Rows with values, numbers of all types in memory, and steps that several rows share.
Case randomCase(const jit::ProgramRecord &record, const ScalarProgram &program, uint32_t rows,
                bool doubles, Random &random) {
  Case data(program, rows, doubles);
  data.addStores(uint32_t(program.results.size()));
  data.skipWhere(program.skip.value_or(ScalarsLaunch::NEVER));
  std::vector<Cell *> steps;
  for (int k = 0; k < 5; ++k) {
    Cell &step = data.addCell(ScalarType(k % 6), double(random() % 2000));
    steps.push_back(&step);
    if (k != 1)
      data.count(step);
  }
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t k = 0; k < program.inputs.size(); ++k) {
      if (program.inputs[k].kind == Kind::Step) {
        data.setCell(row, k, *steps[random() % steps.size()]);
        continue;
      }
      double value = randomInput(record, program.inputs[k], random);
      if (uint64_t type = random() % 7; type < 4 || (type < 6 && std::isfinite(value)))
        data.setCell(row, k, data.addCell(ScalarType(type), value));
      else
        data.setValue(row, k, value);
    }
    for (uint32_t k = 0; k < program.results.size(); ++k) {
      const jit::ScalarResult &result = program.results[k];
      data.setStore(row, k, data.addCell(ScalarType(random() % 4), -1), result.value,
                    result.always);
    }
  }
  return data;
}

TEST(Scalars, ProgramsOfAllShippedOpsEqualTheHostsToTheBit) {
  std::set<std::string> ops;
  Random random(7);
  for (const Shipped &op : shippedPrograms())
    for (const jit::StageRecord &stage : op.record.stages)
      for (uint32_t rows : {1u, 9u, 256u, 700u})
        for (bool doubles : {false, true}) {
          Case data = randomCase(op.record, stage.scalars, rows, doubles, random);
          EXPECT_EQ(run(data, rows), "") << op.name << ", " << rows << " rows";
          ops.insert(op.name);
        }
  std::vector<std::string> all = compiledOpNames();
  EXPECT_EQ(ops, std::set(all.begin(), all.end()));
}

// --- Every operation -----------------------------------------------------------------------------

constexpr size_t scalarCodes = 0
#define FW_ONE(name, arity, value) +1
    FW_SCALAR_OPERATIONS(FW_ONE)
#undef FW_ONE
    ;

/// A slot for every operation of the table, all of the same three inputs.
ScalarProgram everyOperation() {
  ScalarProgram program;
  for (uint32_t k = 0; k < 3; ++k)
    program.input(Kind::Hyper, k);
  for (size_t code = 0; code < scalarCodes; ++code)
    program.slot(program.operation(ScalarCode(code), 0, 1, 2), jit::scalarName(ScalarCode(code)));
  return program;
}

std::vector<double> edges() {
  using Limits = std::numeric_limits<double>;
  std::vector<double> positive = {0,
                                  1,
                                  0.5,
                                  1.5,
                                  2.5,
                                  0.9,
                                  0x1p-30,
                                  3,
                                  17,
                                  448,
                                  57344,
                                  65504,
                                  65520,
                                  0x1p24 + 1,
                                  1e-40,
                                  3.4e38,
                                  700,
                                  746,
                                  0x1p62,
                                  1e300,
                                  Limits::min(),
                                  Limits::max(),
                                  Limits::denorm_min(),
                                  Limits::infinity(),
                                  Limits::quiet_NaN()};
  std::vector<double> all = positive;
  for (double value : positive)
    all.push_back(-value);
  return all;
}

TEST(Scalars, EveryOperationAtItsEdgesEqualsTheHostsToTheBit) {
  std::vector<double> values = edges();
  Random random(3);
  for (uint64_t k = 0; k < 200; ++k)
    values.push_back(std::ldexp(double(int64_t(random())), int(random() % 80) - 103));
  const ScalarProgram program = everyOperation();
  ASSERT_EQ(program.slots.size(), scalarCodes);
  for (bool doubles : {false, true}) {
    Case data(program, uint32_t(values.size() * 8), doubles);
    for (uint32_t row = 0; row < data.rows(); ++row) {
      data.setValue(row, 0, values[row / 8]);
      data.setValue(row, 1, row % 8 == 0 ? values[row / 8] : values[random() % values.size()]);
      data.setValue(row, 2, values[random() % values.size()]);
    }
    EXPECT_EQ(run(data), "");
  }
}

// --- Lanes, counters -----------------------------------------------------------------------------

TEST(Scalars, LanesFillTheSharedMemory) {
  constexpr uint32_t room = ScalarsLaunch::VALUES - ScalarsLaunch::STAGING;
  EXPECT_EQ(ScalarsLaunch::lanes(0, 0), 256u);
  EXPECT_EQ(ScalarsLaunch::lanes(10, 13), 256u);
  EXPECT_EQ(ScalarsLaunch::lanes(10, 40), room / 50);
  EXPECT_EQ(ScalarsLaunch::lanes(44, room - 44), 1u);
  EXPECT_EQ(ScalarsLaunch::lanes(45, room - 44), 0u);
  EXPECT_EQ(ScalarsLaunch::lanes(5, 5, 1000), (1000 - ScalarsLaunch::STAGING) / 10);
}

constexpr ScalarType types[] = {ScalarType::F32,  ScalarType::F64, ScalarType::F16,
                                ScalarType::BF16, ScalarType::I32, ScalarType::I64};

/// x + 1 + 1 ...
ScalarProgram longSum(uint32_t operations) {
  ScalarProgram program;
  uint32_t sum = program.input(Kind::Hyper), one = program.constant(1);
  for (uint32_t k = 0; k < operations; ++k)
    sum = program.operation(ScalarCode::add, sum, one);
  program.slot(sum, "sum");
  return program;
}

TEST(Scalars, ProgramsOfEveryLengthFit) {
  for (uint32_t operations :
       {0u, 1u, 31u, 32u, 33u, 50u, 2991u, ScalarsLaunch::VALUES - ScalarsLaunch::STAGING - 1}) {
    Case data(longSum(operations), 3, false);
    for (uint32_t row = 0; row < 3; ++row)
      data.setValue(row, 0, row * 0.1);
    EXPECT_EQ(run(data), "") << operations;
  }
}

TEST(Scalars, NumbersAreCountedOnceHoweverManyRowsReadThem) {
  for (uint64_t seed : {1, 2, 3, 4})
    for (ScalarType type : types) {
      Case data(longSum(2), 600, true);
      for (int k = 0; k < 300; ++k) {
        Cell &cell = data.addCell(type, 100 + k);
        if (k % 3)
          data.count(cell);
        data.setCell(uint32_t(k), 0, cell);
        data.setCell(uint32_t(599 - k), 0, cell);
      }
      EXPECT_EQ(run(data, seed), "") << unsigned(type);
    }
}

TEST(Scalars, CountersAreServedWithoutAnyRow) {
  Case data(longSum(1), 0, false);
  data.count(data.addCell(ScalarType::I64, 41));
  EXPECT_EQ(run(data), "");
}

TEST(Scalars, CountsAreTakenBack) {
  for (ScalarType type : types) {
    Case data(longSum(1), 0, false);
    for (int k = 0; k < 300; ++k)
      data.count(data.addCell(type, k));
    data.countBy(-1);
    EXPECT_EQ(run(data), "") << unsigned(type);
  }
}

// --- Stores, skipped runs ------------------------------------------------------------------------

/// Value numbers of y = 2 x + k, and of whether y > 1000.
struct Stored {
  ScalarProgram program;
  uint32_t y = 0, isLarge = 0;

  Stored() {
    uint32_t x = program.input(Kind::Hyper, 0), k = program.input(Kind::Hyper, 1),
             step = program.input(Kind::Step), two = program.constant(2),
             limit = program.constant(1000);
    y = program.operation(ScalarCode::fma, x, two, k);
    isLarge = program.operation(ScalarCode::gt, y, limit);
    for (int filler = 0; filler < 60; ++filler) // fewer lanes than threads
      step = program.operation(ScalarCode::add, step, two);
    program.slot(y, "y");
    program.slot(isLarge, "isLarge");
    program.slot(step, "step");
    program.slot(two, "two");
  }
};

/// Rows that read and replace a state of their own and one that all share, which row `owner`
/// stores; a step that counts. Rows of `large` are skipped.
Case storing(const Stored &stored, uint32_t rows, ScalarType type, uint32_t owner,
             const std::set<uint32_t> &large) {
  Case data(stored.program, rows, rows % 2 == 0);
  data.addStores(4);
  data.skipWhere(stored.isLarge);
  Cell &shared = data.addCell(type, 3), &step = data.addCell(ScalarType::I64, 7);
  data.count(step);
  for (uint32_t row = 0; row < rows; ++row) {
    Cell &own = data.addCell(type, 1 + row % 50);
    if (large.count(row))
      data.setValue(row, 0, 5000);
    else
      data.setCell(row, 0, own);
    data.setCell(row, 1, shared);
    data.setCell(row, 2, step);
    data.setStore(row, 0, own, stored.y, false);
    data.setStore(row, 3, data.addCell(ScalarType::F64, -1), stored.y, true);
    if (row == owner)
      data.setStore(row, 2, shared, stored.y, false);
  }
  return data;
}

TEST(Scalars, StoresWaitForAllRows) {
  const Stored stored;
  for (ScalarType type : types)
    for (uint32_t rows : {1u, 9u, 600u})
      for (uint32_t owner : {0u, rows / 2, rows - 1}) {
        Case data = storing(stored, rows, type, owner, {});
        EXPECT_EQ(run(data, rows), "") << unsigned(type) << ", " << rows << " rows";
      }
}

TEST(Scalars, SkippedRowsStoreOnlyWhatIsStoredAlways) {
  const Stored stored;
  for (const std::set<uint32_t> &large :
       {std::set<uint32_t>{0}, {5, 299}, {0, 1, 299}}) // row 0 holds the counters back
    for (uint32_t rows : {1u, 300u}) {
      Case data = storing(stored, rows, ScalarType::F32, rows - 1, large);
      EXPECT_EQ(run(data), "") << large.size() << ", " << rows << " rows";
    }
}

TEST(Scalars, WholeNumbersTakeWhatDoesNotFitAsTheirLimits) {
  const std::pair<double, int64_t> edges[] = {{NAN, 0},
                                              {INFINITY, INT64_MAX},
                                              {0x1p63, INT64_MAX},
                                              {-0x1p63, INT64_MIN},
                                              {-1e300, INT64_MIN},
                                              {0x1p62, int64_t{1} << 62}};
  for (auto [value, expected] : edges) {
    int64_t wide = 1;
    int32_t narrow = 1;
    writeScalar(ScalarType::I64, reinterpret_cast<uint64_t>(&wide), value);
    writeScalar(ScalarType::I32, reinterpret_cast<uint64_t>(&narrow), value);
    EXPECT_EQ(wide, expected);
    EXPECT_EQ(narrow, std::clamp<int64_t>(expected, INT32_MIN, INT32_MAX));
  }
  int32_t last = INT32_MAX;
  const ScalarSource source = {reinterpret_cast<uint64_t>(&last), ScalarType::I32, 1, 0};
  EXPECT_EQ(readScalar(source), INT32_MIN); // sums wrap
}

// --- Mutants -------------------------------------------------------------------------------------

TEST(Scalars, EveryMutantIsCaught) {
  ScalarProgram program = longSum(60); // fewer lanes than threads, and one row left over
  program.slot(1, "one");
  const uint32_t rows = 6 * ScalarsLaunch::lanes(1, 60) + 1;
  const Stored stored;
  int mutants = 0;
  for (const EmulatedKernel *kernel = fw_scalars_kernels + 1; kernel->name; ++kernel, ++mutants) {
    std::string found;
    for (uint64_t seed = 1; seed <= 4 && found.empty(); ++seed) {
      Case data(program, rows, false);
      for (uint32_t row = 0; row < rows; ++row) {
        Cell &cell = data.addCell(ScalarType::I64, row);
        data.count(cell);
        data.setCell(rows - 1 - row, 0, cell);
      }
      data.countBy(seed % 2 ? 1 : -1);
      found = run(*kernel, data, seed);
      for (const std::set<uint32_t> &large : {std::set<uint32_t>{}, {0, 7, 599}}) {
        Case other = storing(stored, 600, ScalarType::F16, 0, large);
        if (found.empty())
          found = run(*kernel, other, seed);
      }
    }
    EXPECT_NE(found, "") << kernel->name << " passes";
  }
  EXPECT_EQ(mutants, 22);
}

} // namespace
} // namespace fw::scalars
