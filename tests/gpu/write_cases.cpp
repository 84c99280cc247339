// write-gpu-cases FOLDER [ARCH [SCHEDULE]]: compiles the matrix's kernels and the shipped profiles
// for ARCH (sm_90) and writes, for each, its cubin and the cases with the words that a right kernel
// leaves. With a SCHEDULE such as threads=256,inflight=1 it takes the profiles alone, and leaves
// out those that cannot have it. run_cases.py runs the cases on a GPU, measure.py times them.
#include "compiler/Compiler.h"
#include "compiler/Stages.h"
#include "compiler/dialect/Dtypes.h"
#include "compiler/passes/rules/Elements.h"
#include "tests/matrix/Rows.h"
#include "tools/verify/Lists.h"
#include "tools/verify/Verify.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace fw;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const Error &error) {
  std::fprintf(stderr, "write-gpu-cases: %s\n%s\n", render(error).c_str(), error.log.c_str());
  std::exit(int(error.code));
}

template <class T> T need(Result<T> result) {
  if (!result)
    fail(result.error());
  return std::move(*result);
}

/// Appends bytes to one data file and remembers where they stand.
class Blob {
public:
  explicit Blob(const fs::path &file) : out(file, std::ios::binary) {}
  json add(const void *data, size_t size) {
    json place = {{"at", at}, {"size", size}};
    out.write(static_cast<const char *>(data), std::streamsize(size));
    at += size;
    return place;
  }

private:
  std::ofstream out;
  size_t at = 0;
};

/// Where the members of the kernel's parameter stand.
json layoutOf(const jit::LaunchRecord &launch) {
  const ElementsLayout layout(uint32_t(launch.operands.size()), uint32_t(launch.slots),
                              launch.real == "f64" ? 8 : 4);
  return {{"pointers", layout.pointers},
          {"scalars", layout.scalars},
          {"policy", layout.policy},
          {"per_entry", layout.perEntry},
          {"segment_count", layout.segmentCount},
          {"addresses", layout.addresses},
          {"bytes", layout.bytes}};
}

/// Both ways to launch a case whose arena stands at address 0: with chunk records, pointer columns
/// and scalars in tables, and with everything in the parameter.
json planCase(Blob &blob, const verify::ElementsList &list, const jit::LaunchRecord &launch,
              const std::vector<std::vector<double>> &slots) {
  const bool byEntry = slots.size() > 1;
  auto chunks = list.chunks(byEntry, slots.size());
  json tables = {{"chunks", blob.add(chunks.data(), chunks.size() * sizeof(Chunk))},
                 {"per_entry", byEntry},
                 {"grid", chunks.size()}};
  for (const auto &column : list.columns())
    tables["columns"].push_back(blob.add(column.data(), column.size() * sizeof column[0]));
  auto packed = verify::packSlots(slots, launch.real);
  tables["scalars"] = blob.add(packed.data(), packed.size());

  plan::ElementsArguments arguments(int(launch.operands.size()), launch.slots,
                                    launch.real == "f64");
  for (size_t row = 0; row < slots.size(); ++row)
    arguments.row(row, slots[row]);
  const uint64_t blocks = list.fillSegments(arguments, slots.size());
  const auto bytes = arguments.bytes();
  return {{"tables", tables},
          {"parameter", {{"bytes", blob.add(bytes.data(), bytes.size())}, {"grid", blocks}}}};
}

json writeCase(Blob &blob, const ResolvedRequest &request, const jit::ProgramRecord &record,
               const Reference &reference, const verify::Case &data) {
  const jit::LaunchRecord &launch = record.kernels[0].launch;
  verify::Arena arena(request, data);
  json out = planCase(blob, verify::ElementsList(request, launch, data, arena, /*base=*/0), launch,
                      verify::slotRows(record, request, data));
  out["name"] = data.name;
  out["arena"] = blob.add(arena.base(), arena.size());
  verify::DecodedCase decoded(request, data);
  evaluator::Bits bits = need(reference.interpret(decoded.inputs));
  for (size_t k = 0; k < request.operands.size(); ++k) {
    const RequestOperand &operand = request.operands[k];
    const auto *expected = operand.written ? bits.find(operand.name) : nullptr;
    for (size_t t = 0; expected && t < data.sizes.size(); ++t) {
      auto packed = evaluator::pack(*findDtype(operand.dtype), expected->tensors[t]);
      out["outputs"].push_back({{"operand", operand.name},
                                {"dtype", operand.dtype},
                                {"offset", arena.offset(k, t)},
                                {"expected", blob.add(packed.data(), packed.size())}});
    }
  }
  return out;
}

/// The scalar table of a second step (a first one may skip loads) with default hyper-parameters.
json defaultScalars(Blob &blob, const ResolvedRequest &request, const jit::ProgramRecord &record) {
  verify::Case data;
  auto &row = data.scalars.emplace_back();
  for (const RequestScalar &scalar : request.scalars)
    row.push_back(scalar.value.value_or(2));
  auto slots =
      verify::packSlots(verify::slotRows(record, request, data), record.kernels[0].launch.real);
  return blob.add(slots.data(), slots.size());
}

json writeKernel(Compiler &compiler, const fs::path &folder, const Request &row, size_t number) {
  auto program = need(compiler.compile(row));
  const ResolvedRequest &request = program->request;
  const jit::LaunchRecord &launch = program->record.kernels[0].launch;
  std::string name = matrix::rowName(row, number);
  std::ofstream(folder / (name + ".cubin"), std::ios::binary) << program->kernels[0].image->code;
  Blob blob(folder / (name + ".bin"));
  Reference reference = need(Reference::make(request));
  json kernel = {{"name", name},
                 {"what", describe(request)},
                 {"symbol", launch.symbol},
                 {"threads", launch.threads},
                 {"chunk", launch.chunk},
                 {"vec", launch.vec},
                 {"schedule", launch.schedule},
                 {"registers", launch.registers},
                 {"layout", layoutOf(launch)},
                 {"defaults", defaultScalars(blob, request, program->record)}};
  for (uint32_t k : launch.operands)
    kernel["operands"].push_back({{"name", request.operands[k].name},
                                  {"dtype", request.operands[k].dtype},
                                  {"read", request.operands[k].read},
                                  {"written", request.operands[k].written}});
  for (const verify::Case &data :
       verify::makeCases(request, {uint64_t(launch.vec), uint64_t(launch.chunk), number + 1}))
    kernel["cases"].push_back(writeCase(blob, request, program->record, reference, data));
  return kernel;
}

bool isOneKernel(const Program &program) {
  const auto &stages = program.record.stages;
  return stages.size() == 1 && program.kernels.size() == 1 && stages[0].scalars.results.empty();
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    fail({Code::USAGE, "expected a folder, got no argument"});
  fs::path folder = argv[1];
  std::string arch = argc > 2 ? argv[2] : "sm_90";
  auto schedule = need(passes::parseOverrides(argc > 3 ? argv[3] : ""));
  fs::create_directories(folder);
  Compiler compiler({.settings = need(jit::Settings::read())});
  std::vector<std::string> archs = {arch};
  if (!schedule.empty())
    archs.clear(); // no pairwise rows
  json manifest = json::array();
  auto rows = need(matrix::matrixRows(archs, arch));
  for (size_t number = 0; number < rows.size(); ++number) {
    rows[number].schedule.insert(schedule.begin(), schedule.end());
    auto program = compiler.compile(rows[number]);
    if (!schedule.empty() && !program)
      continue;
    // Programs of several stages need the runtime: the GPU suite and `verify` run them.
    if (!isOneKernel(*need(std::move(program))))
      continue;
    manifest.push_back(writeKernel(compiler, folder, rows[number], number));
  }
  std::ofstream(folder / "manifest.json") << manifest.dump();
  std::printf("%zu kernels for %s\n", manifest.size(), arch.c_str());
  return 0;
}
