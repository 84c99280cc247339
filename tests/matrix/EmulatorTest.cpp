// Every kernel of the matrix, as emitted, under the emulator with ASan and UBSan: stored words lie
// within the evaluator's bounds, equal the bit reference, and nothing else is written.
#include "compiler/Stages.h"
#include "compiler/dialect/Dtypes.h"
#include "compiler/target/Target.h"
#include "templates/vocab/reduce_launch.h"
#include "tests/emulator/Bundle.h"
#include "tests/matrix/Bundles.h"
#include "tests/matrix/Rows.h"
#include "tools/verify/Lists.h"
#include "tools/verify/Verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

using namespace fw;

namespace {

const std::vector<Request> &rows() {
  static const std::vector<Request> all = [] {
    std::vector<std::string> archs;
    for (const target::Arch &arch : target::archs())
      archs.push_back(arch.name);
    return *matrix::matrixRows(archs, "sm_90");
  }();
  return all;
}

/// The bundled kernels of a row, by the names of their files.
std::vector<const emulator::BundledKernel *> findKernels(const std::string &row, size_t count) {
  std::vector<const emulator::BundledKernel *> found(count);
  for (size_t k = 0; k < count; ++k)
    for (const emulator::BundledKernel *bundle : matrix::bundles())
      for (; bundle->symbol; ++bundle)
        if (bundle->file == matrix::kernelFile(row, k))
          found[k] = bundle;
  return found;
}

/// Runs the bundled kernels of a program on the arena of a case. The cases take turns at the ways
/// of a launch, from `turn` on: chunk records in a table and scalars in another or in the
/// parameter, or all in there.
class EmulatorExecutor {
public:
  EmulatorExecutor(std::vector<const emulator::BundledKernel *> kernels,
                   const ResolvedRequest &request, const jit::ProgramRecord &record, size_t turn)
      : kernels(std::move(kernels)), request(request), record(record), turn(turn) {}

  Result<void> operator()(const verify::Case &data, const verify::Arena &arena) {
    verify::StagedScalars scalars(record, request, data, arena);
    for (size_t s = 0; s < record.stages.size(); ++s) {
      const jit::StageRecord &stage = record.stages[s];
      if (stage.kernel == jit::StageRecord::NO_KERNEL)
        continue;
      const jit::LaunchRecord &launch = record.kernels[size_t(stage.kernel)].launch;
      verify::ElementsList list(request, launch, data, arena,
                                reinterpret_cast<uint64_t>(arena.base()));
      const emulator::BundledKernel &kernel = *kernels[size_t(stage.kernel)];
      auto ran = stage.reductions.empty()
                     ? store(kernel, launch, list, scalars.slotRows(s), data.seed)
                     : reduce(kernel, launch, list, scalars, s, data.seed);
      if (!ran)
        return ran;
    }
    scalars.store();
    return {};
  }

private:
  Result<void> store(const emulator::BundledKernel &kernel, const jit::LaunchRecord &launch,
                     const verify::ElementsList &list,
                     const std::vector<std::vector<double>> &slots, uint64_t seed) {
    plan::ElementsArguments arguments(kernel.operands, kernel.slots, launch.real == "f64");
    if (arguments.bytes().size() != kernel.parameterBytes || kernel.chunk != launch.chunk)
      return Error{Code::CHECK_FAILED, "the parameter or the chunk is another than the record's"};
    std::vector<std::byte> rows = verify::packSlots(slots, launch.real);
    const bool hasTables = turn & 1, hasRows = !hasTables || turn & 2, byEntry = turn & 4;
    ++turn;
    if (hasRows)
      for (size_t row = 0; row < slots.size(); ++row)
        arguments.row(row, slots[row]);
    else
      arguments.scalars(reinterpret_cast<uint64_t>(rows.data()));
    std::vector<Chunk> chunks;
    uint64_t blocks = 0;
    if (hasTables) {
      chunks = list.chunks(byEntry, slots.size());
      blocks = chunks.size();
      arguments.chunks(reinterpret_cast<uint64_t>(chunks.data()));
      arguments.perEntry(byEntry);
      for (size_t k = 0; k < list.columns().size(); ++k)
        arguments.column(int(k), reinterpret_cast<uint64_t>(list.columns()[k].data()));
    } else {
      blocks = list.fillSegments(arguments, slots.size());
    }
    arguments.policy(L2::NORMAL);
    return emulate(kernel, blocks, arguments.data(), seed);
  }

  /// The kernel merges its own partials; scalar programs run on the host.
  Result<void> reduce(const emulator::BundledKernel &kernel, const jit::LaunchRecord &launch,
                      const verify::ElementsList &list, verify::StagedScalars &scalars,
                      size_t stage, uint64_t seed) {
    const auto slots = scalars.slotRows(stage);
    const std::vector<Chunk> chunks = list.chunks(/*byEntry=*/true, slots.size());
    if (chunks.empty())
      return {};
    const uint32_t reals = launch.real == "f64" ? sizeof(double) : sizeof(float);
    const ReduceLayout layout(uint32_t(kernel.operands), uint32_t(kernel.slots), reals);
    if (layout.bytes != kernel.parameterBytes || kernel.chunk != launch.chunk)
      return Error{Code::CHECK_FAILED, "the parameter or the chunk is another than the record's"};
    const std::vector<std::byte> rows = verify::packSlots(slots, launch.real);
    const size_t count = record.stages[stage].reductions.size(), entries = list.tensorCount();
    std::vector<double> partials(count * chunks.size()), results(count * entries);
    const std::vector<uint32_t> first = list.firstChunks(chunks);
    uint32_t ticket = 0;
    const ReduceTail tail{.partials = partials.data(),
                          .results = results.data(),
                          .firstPartial = first.data(),
                          .ticket = &ticket,
                          .partialCount = uint32_t(chunks.size()),
                          .entries = uint32_t(entries),
                          .isLast = 1};
    std::vector<std::byte> parameter(layout.bytes);
    auto put = [&](uint32_t at, auto value) {
      std::memcpy(parameter.data() + at, &value, sizeof value);
    };
    put(0, chunks.data());
    for (size_t k = 0; k < list.columns().size(); ++k)
      put(layout.pointers + 8 * uint32_t(k), list.columns()[k].data());
    put(layout.scalars, rows.data());
    put(layout.policy, u64(L2::NORMAL));
    put(layout.perEntry, u32(1));
    put(layout.tail, tail);
    if (auto ran = emulate(kernel, chunks.size(), parameter.data(), seed); !ran)
      return ran;
    if (ticket != 0)
      return Error{Code::CHECK_FAILED, "expected a ticket of 0 behind the kernel, got another"};
    for (size_t r = 0; r < count; ++r) {
      const bool keepsTensor = record.stages[stage].reductions[r].keep == "tensor";
      for (size_t t = 0; t < (keepsTensor ? entries : 1); ++t)
        scalars.merge(stage, r, t, results[r * entries + t]);
    }
    return {};
  }

  static Result<void> emulate(const emulator::BundledKernel &kernel, uint64_t blocks,
                              const void *parameter, uint64_t seed) {
    if (auto fault = emulator::emulate(kernel, blocks, parameter, seed))
      return Error{Code::CHECK_FAILED, *fault};
    return {};
  }

  std::vector<const emulator::BundledKernel *> kernels;
  const ResolvedRequest &request;
  const jit::ProgramRecord &record;
  size_t turn;
};

class Matrix : public testing::TestWithParam<size_t> {};

TEST_P(Matrix, is_within_bounds_and_equals_the_bit_reference) {
  const Request &row = rows()[GetParam()];
  auto request = resolve(row);
  ASSERT_TRUE(request) << render(request.error());
  SCOPED_TRACE(describe(*request));
  auto lowered = lower(*request);
  ASSERT_TRUE(lowered) << render(lowered.error());
  const size_t count = lowered->record.kernels.size();
  auto kernels = findKernels(matrix::rowName(row, GetParam()), count);
  ASSERT_EQ(std::count(kernels.begin(), kernels.end(), nullptr), 0);
  const uint64_t vec = count ? uint64_t(lowered->record.kernels[0].launch.vec) : 1;
  const uint64_t chunk = count ? uint64_t(lowered->record.kernels[0].launch.chunk) : 1;
  auto report =
      verify::verify(*request, {vec, chunk, /*seed=*/GetParam() + 1},
                     EmulatorExecutor(kernels, *request, lowered->record, /*turn=*/GetParam()));
  ASSERT_TRUE(report) << render(report.error());
  for (const std::string &failure : report->failures)
    ADD_FAILURE() << failure;
  EXPECT_GT(report->elements, 0u);
}

/// Words to convert: all of a dtype of up to 16 bits; around every midpoint between two numbers of
/// the narrow formats for f32 and f64.
std::vector<uint64_t> castInputs(const Dtype &from) {
  std::vector<uint64_t> words;
  if (from.bytes <= 2) {
    for (uint64_t word = 0; word < uint64_t(1) << (8 * from.bytes); ++word)
      words.push_back(word);
    return words;
  }
  for (const Dtype &to : allDtypes())
    for (uint64_t word = 0; to.bytes <= 2 && word + 1 < uint64_t(1) << (8 * to.bytes); ++word) {
      double a = evaluator::decode(to, word), b = evaluator::decode(to, word + 1);
      uint64_t middle = evaluator::encode(from, (a + b) / 2);
      for (uint64_t near : {middle - 1, middle, middle + 1})
        words.push_back(near & (from.bytes == 4 ? 0xffffffffu : ~uint64_t(0)));
    }
  return words;
}

/// One tensor of all inputs of a cast.
verify::Case castCase(const ResolvedRequest &request) {
  verify::Case data;
  data.name = "all inputs";
  auto words = castInputs(*findDtype(request.operands[0].dtype));
  data.sizes = {words.size()};
  data.misaligned = {0, 0};
  data.words = {{words}, {std::vector<uint64_t>(words.size(), 0)}};
  data.scalars = {{}};
  return data;
}

TEST(casts, emulated_kernels_convert_all_inputs_exactly) {
  size_t kernels = 0;
  std::set<std::string> done;
  for (size_t i = 0; i < rows().size(); ++i) {
    if (rows()[i].op->name != "cast")
      continue;
    auto request = resolve(rows()[i]);
    ASSERT_TRUE(request);
    if (!done.insert(request->operands[0].dtype + " " + request->operands[1].dtype).second)
      continue;
    SCOPED_TRACE(describe(*request));
    auto lowered = lower(*request);
    ASSERT_TRUE(lowered);
    verify::Case data = castCase(*request);
    verify::Arena arena(*request, data);
    auto ran = EmulatorExecutor(findKernels(matrix::rowName(rows()[i], i), 1), *request,
                                lowered->record, /*turn=*/i)(data, arena);
    ASSERT_TRUE(ran) << render(ran.error());
    auto got = arena.words(1)[0];
    const Dtype &from = *findDtype(request->operands[0].dtype);
    const Dtype &to = *findDtype(request->operands[1].dtype);
    for (size_t k = 0; k < got.size(); ++k) {
      uint64_t expected = evaluator::encode(to, evaluator::decode(from, data.words[0][0][k]));
      ASSERT_TRUE(evaluator::sameValue(to, got[k], expected))
          << std::hex << data.words[0][0][k] << ": expected " << expected << ", got " << got[k];
    }
    ++kernels;
  }
  EXPECT_EQ(kernels, allDtypes().size() * allDtypes().size());
}

INSTANTIATE_TEST_SUITE_P(kernels, Matrix, testing::Range(size_t(0), rows().size()),
                         [](const testing::TestParamInfo<size_t> &info) {
                           return matrix::rowName(rows()[info.param], info.param);
                         });

} // namespace
