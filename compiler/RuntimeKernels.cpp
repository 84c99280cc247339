#include "compiler/RuntimeKernels.h"

#include "compiler/emit/Vocabulary.h"
#include "compiler/jit/Hash.h"
#include "compiler/target/Target.h"
#include "templates/vocab/scalars_launch.h"

namespace fw {

Subject scalarsSubject(const std::string &target) {
  Subject subject;
  subject.target = target;
  subject.description = "scalars for " + target;
  subject.facts = "runtime kernel scalars\ntarget " + target + "\n";
  subject.key = jit::programKey(subject.facts, /*opHash=*/"");
  return subject;
}

Result<Lowered> lowerScalars(const std::string &target) {
  auto arch = target::findArch(target);
  if (!arch)
    return arch.takeError();
  const std::string_view files[] = {"scalars/prologue.cuh"};
  Result<std::string> source = emit::printVocabulary(files, **arch);
  if (!source)
    return source.takeError();
  jit::LaunchRecord launch;
  launch.symbol = "fw_scalars";
  launch.pattern = "scalars";
  launch.skeleton = "prologue";
  launch.gridRule = "one";
  launch.threads = int(ScalarsLaunch::THREADS);
  launch.sharedBytes = ScalarsLaunch::SHARED_BYTES;
  launch.parameters = {"launch"};
  Lowered lowered;
  lowered.record.op = "scalars";
  lowered.record.target = target;
  lowered.record.kernels.push_back({std::move(launch), ""});
  lowered.sources.push_back(std::move(*source));
  return lowered;
}

} // namespace fw
