#include "tools/verify/Verify.h"

#include "compiler/dialect/Dtypes.h"

#include <cstdio>

namespace fw::verify {
namespace {

using evaluator::Comparison;

/// Collects the figures of one request over its cases.
class Verification {
public:
  Verification(const ResolvedRequest &request, const Reference &reference, uint64_t seed)
      : request(request), reference(reference), seed(seed) {
    report.hasBits = !reference.reduces();
    for (size_t k = 0; k < request.operands.size(); ++k)
      if (request.operands[k].written && request.operands[k].present) {
        written.push_back(k);
        report.outputs.push_back({request.operands[k].name, request.operands[k].dtype});
      }
  }

  Result<void> run(const Case &data, std::span<const Way> ways) {
    DecodedCase decoded(request, data);
    auto bounds = reference.evaluate(decoded.inputs);
    if (!bounds)
      return bounds.takeError();
    std::optional<evaluator::Bits> bits;
    if (report.hasBits) {
      auto interpreted = reference.interpret(decoded.inputs);
      if (!interpreted)
        return interpreted.takeError();
      bits = std::move(*interpreted);
    }
    ++report.cases;
    for (const Way &way : ways) {
      Arena arena(request, data);
      if (auto done = way.execute(data, arena); !done)
        return done;
      wayName = way.name;
      for (size_t i = 0; i < written.size(); ++i) {
        auto words = arena.words(written[i]);
        judgeBounds(data, report.outputs[i], *bounds->find(report.outputs[i].operand), words);
        if (bits)
          judgeBits(data, report.outputs[i], *bits->find(report.outputs[i].operand), words);
      }
      if (auto stray = arena.strayWrite())
        fail(data, *stray);
    }
    return {};
  }

  Report take() { return std::move(report); }

private:
  void fail(const Case &data, const std::string &what) {
    report.failures.push_back("case '" + data.name + "', seed " + std::to_string(seed) +
                              (wayName.empty() ? "" : ", " + wayName) + ": " + what);
  }

  void judgeBounds(const Case &data, OutputReport &out,
                   const evaluator::Output<evaluator::Bound> &expected,
                   const std::vector<std::vector<uint64_t>> &words) {
    Comparison comparison = evaluator::compare(expected, words);
    report.elements += comparison.elements;
    if (comparison.elements &&
        (out.caseName.empty() || comparison.worst.ratio > out.worst.worst.ratio)) {
      out.worst = comparison;
      out.caseName = data.name;
      out.caseSeed = data.seed;
    }
    if (!comparison.ok())
      fail(data, "output '" + out.operand +
                     "': " + evaluator::describe(comparison, *findDtype(out.dtype)));
  }

  void judgeBits(const Case &data, OutputReport &out, const evaluator::Output<uint64_t> &expected,
                 const std::vector<std::vector<uint64_t>> &words) {
    auto difference = evaluator::compareBits(expected, words);
    if (difference.ok)
      return;
    ++out.differingBits;
    char text[160];
    std::snprintf(text, sizeof text,
                  "output '%s': expected the bits 0x%llx at tensor %zu element %zu, got 0x%llx",
                  out.operand.c_str(), (unsigned long long)difference.expected, difference.tensor,
                  difference.element, (unsigned long long)difference.produced);
    fail(data, text);
  }

  const ResolvedRequest &request;
  const Reference &reference;
  uint64_t seed;
  std::string wayName; ///< of the run that is judged
  std::vector<size_t> written;
  Report report;
};

} // namespace

DecodedCase::DecodedCase(const ResolvedRequest &request, const Case &data) {
  inputs.sizes.assign(data.sizes.begin(), data.sizes.end());
  inputs.scalars = data.scalars;
  for (size_t k = 0; k < request.operands.size(); ++k) {
    const Dtype &dtype = *findDtype(request.operands[k].dtype);
    auto &tensors = numbers.emplace_back();
    for (const std::vector<uint64_t> &words : data.words[k]) {
      auto &tensor = tensors.emplace_back();
      for (uint64_t word : words)
        tensor.push_back(evaluator::decode(dtype, word));
    }
  }
  for (const auto &tensors : numbers)
    inputs.data.emplace_back(tensors.begin(), tensors.end());
}

Result<Report> verify(const ResolvedRequest &request, const CaseOptions &options,
                      const Executor &execute) {
  const Way only{"", execute};
  return verify(request, options, std::span(&only, 1));
}

Result<Report> verify(const ResolvedRequest &request, const CaseOptions &options,
                      std::span<const Way> ways) {
  auto reference = Reference::make(request);
  if (!reference)
    return reference.takeError();
  Verification verification(request, *reference, options.seed);
  for (const Case &data : makeCases(request, options))
    if (auto done = verification.run(data, ways); !done)
      return done.takeError();
  return verification.take();
}

} // namespace fw::verify
