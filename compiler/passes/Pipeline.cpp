#include "compiler/passes/Pipeline.h"

#include "compiler/passes/FeatureTable.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Refusal.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

#include <algorithm>
#include <optional>

using namespace mlir;

namespace fw::passes {
namespace {

using FeaturePass = std::unique_ptr<Pass> (*)(std::string dtypes);

/// The pass of each row of features.def.
constexpr FeaturePass kFeaturePasses[] = {
#define FW_FEATURE(pass, ...)                                                                      \
  [](std::string dtypes) -> std::unique_ptr<Pass> { return create##pass({std::move(dtypes)}); },
#include "compiler/passes/features.def"
#undef FW_FEATURE
};

FeaturePass passOf(const Feature &feature) {
  return kFeaturePasses[&feature - allFeatures().data()];
}

using OwnsName = llvm::function_ref<bool(StringRef operand)>;

/// The entries of "operand=dtype,..." whose operand `owns`.
std::string selectDtypes(StringRef dtypes, OwnsName owns) {
  SmallVector<StringRef> entries, selected;
  dtypes.split(entries, ',', -1, /*KeepEmpty=*/false);
  for (StringRef entry : entries)
    if (owns(entry.take_until([](char c) { return c == '='; })))
      selected.push_back(entry);
  return llvm::join(selected, ",");
}

/// Bind the dtypes of the request, add its features in the table's order, merge equal values, check
/// the scopes and name the pairs. The canonicalizer is left out on purpose: it folds functions of
/// constants with the host's libm, and our functions are not those.
Result<void> addSemantic(OpPassManager &manager, const PipelineOptions &options) {
  if (auto legal = checkFeatures(options.features); !legal)
    return legal;
  SmallVector<const Feature *> features;
  for (const Feature &feature : allFeatures())
    if (llvm::is_contained(options.features, feature.name))
      features.push_back(&feature);

  // A dtype that no feature of the request claims is the op's own, or specialise refuses it.
  OpPassManager &nested = manager.nest<fuse::OpOp>();
  nested.addPass(createSpecialise({selectDtypes(options.dtypes, [&](StringRef name) {
    return llvm::none_of(features, [&](const Feature *row) { return isAddedBy(*row, name); });
  })}));
  for (const Feature *feature : features)
    nested.addPass(passOf(*feature)(
        selectDtypes(options.dtypes, [&](StringRef name) { return isAddedBy(*feature, name); })));
  nested.addPass(createRowReciprocals());
  manager.addPass(createCSEPass());
  OpPassManager &merged = manager.nest<fuse::OpOp>();
  merged.addPass(createInferScopes());
  merged.addPass(createPairReductions());
  return {};
}

/// Fix the bits.
void addContraction(OpPassManager &manager) {
  OpPassManager &nested = manager.nest<fuse::OpOp>();
  nested.addPass(createFma());
  nested.addPass(createInferScopes());
}

/// Split into scalar program and kernels.
void addPhases(OpPassManager &manager) {
  manager.addPass(createFormPhases());
  manager.addPass(createCSEPass());
}

/// Decide how the kernels run on the arch.
void addSchedule(OpPassManager &manager, const PipelineOptions &options) {
  manager.nest<fuse::ProgramOp>().addPass(
      createSchedule({options.arch, options.schedule, options.facts}));
}

} // namespace

Result<void> buildPipeline(OpPassManager &manager, Stage stage, const PipelineOptions &options) {
  if (auto semantic = addSemantic(manager, options); !semantic)
    return semantic;
  if (stage >= Stage::Contracted)
    addContraction(manager);
  if (stage >= Stage::Phases)
    addPhases(manager);
  if (stage >= Stage::Cuda)
    addSchedule(manager, options);
  return {};
}

Result<void> runPipeline(ModuleOp module, Stage stage, const PipelineOptions &options) {
  std::optional<Error> refused;
  Error fault{.code = Code::INTERNAL, .text = ""};
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (auto refusal = refusalOf(diagnostic); refusal && !refused)
      refused = std::move(refusal);
    else if (fault.text.empty())
      fault.text = diagnostic.str();
    else
      fault.log += diagnostic.str() + "\n";
    return success();
  });
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  if (auto built = buildPipeline(manager, stage, options); !built)
    return built;
  if (succeeded(manager.run(module)))
    return {};
  return refused ? *refused : fault;
}

namespace {

struct PipelineFlags : PassPipelineOptions<PipelineFlags> {
  Option<std::string> dtypes{*this, "dtypes", llvm::cl::desc("operand=dtype pairs")};
  ListOption<std::string> features{*this, "features", llvm::cl::desc("names of features")};
  Option<std::string> arch{*this, "arch", llvm::cl::desc("a name of archs.def")};
  Option<std::string> schedule{*this, "schedule", llvm::cl::desc("decision=number pairs")};
  Option<std::string> facts{*this, "facts", llvm::cl::desc("fact=number pairs")};
};

struct StageRow {
  const char *name;
  const char *help;
  Stage stage;
};
constexpr StageRow kStages[] = {
    {"fuse-to-semantic", "bind dtypes and add features", Stage::Semantic},
    {"fuse-to-contracted", "the same, and contract into fma", Stage::Contracted},
    {"fuse-to-phases", "the same, and form the scalar program and kernels", Stage::Phases},
    {"fuse-to-cuda", "the same, and schedule for an arch", Stage::Cuda}};

} // namespace

void registerPipelines() {
  for (const StageRow &row : kStages)
    PassPipelineRegistration<PipelineFlags>(
        row.name, row.help,
        [stage = row.stage](OpPassManager &manager, const PipelineFlags &flags) {
          PipelineOptions options{flags.dtypes,
                                  {flags.features.begin(), flags.features.end()},
                                  flags.arch,
                                  flags.schedule,
                                  flags.facts};
          if (auto built = buildPipeline(manager, stage, options); !built)
            llvm::report_fatal_error(llvm::StringRef(render(built.error())), false);
        });
}

} // namespace fw::passes
