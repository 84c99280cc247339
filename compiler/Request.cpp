#include "compiler/Request.h"

#include "compiler/dialect/ScheduleTable.h"
#include "compiler/language/OperandDtypes.h"
#include "compiler/language/Text.h"
#include "compiler/passes/FeatureTable.h"
#include "compiler/target/Target.h"

#include <algorithm>
#include <cmath>

namespace fw {
namespace {

Error usage(std::string text, std::string remedy) {
  return Error{.code = Code::USAGE, .text = std::move(text), .remedy = std::move(remedy)};
}

std::string join(const std::vector<std::string> &words) {
  std::string out;
  for (const std::string &word : words)
    out += (out.empty() ? "" : ", ") + word;
  return out.empty() ? "none" : out;
}

RequestOperand operandOf(const language::OperandInfo &info, const language::OpInfo &op) {
  RequestOperand operand;
  operand.name = info.name;
  operand.role = language::info(info.role).name;
  operand.scope = info.printScope(op.axes);
  operand.axes = info.axes;
  operand.read = info.access != language::Access::Write;
  operand.written = info.access != language::Access::Read;
  operand.optional = info.neutral.has_value();
  operand.neutral = info.neutral.value_or(0);
  operand.init = info.initial.value_or(0);
  return operand;
}

RequestScalar hyperOf(const language::HyperInfo &info) {
  RequestScalar scalar;
  scalar.name = info.name;
  scalar.kind = spelling(info.type);
  scalar.value = info.value;
  scalar.range = info.range.print();
  if (auto &low = info.range.low) {
    scalar.low = low->value;
    scalar.lowOpen = low->open;
  }
  if (auto &high = info.range.high) {
    scalar.high = high->value;
    scalar.highOpen = high->open;
  }
  return scalar;
}

/// Resolves one request, one kind of fact after the other.
class Resolver {
public:
  explicit Resolver(const Request &request) { out.request = request; }

  Result<ResolvedRequest> run() {
    using Part = Result<void> (Resolver::*)();
    for (Part part : {&Resolver::resolveOp, &Resolver::addFeatures, &Resolver::bindDtypes,
                      &Resolver::markAbsent, &Resolver::checkTarget, &Resolver::checkFacts,
                      &Resolver::checkSchedule})
      if (auto done = (this->*part)(); !done)
        return done.takeError();
    writeCanonicalText();
    return std::move(out);
  }

private:
  Result<void> resolveOp() {
    auto op = language::resolve(*out.request.op, out.request.options);
    if (!op)
      return op.takeError();
    out.op = std::move(*op);
    out.opHash = out.request.op->hash;
    out.request.options = out.op.options;
    for (const language::OperandInfo &info : out.op.info.operands)
      out.operands.push_back(operandOf(info, out.op.info));
    for (const language::HyperInfo &info : out.op.info.hypers)
      out.scalars.push_back(hyperOf(info));
    if (out.op.info.step)
      out.scalars.push_back(
          {.name = *out.op.info.step, .kind = "int", .isStep = true, .range = ">= 1", .low = 1});
    return {};
  }

  Result<void> addFeatures() {
    std::vector<passes::FeatureOperand> present;
    for (const RequestOperand &operand : out.operands)
      present.push_back({operand.name, operand.role});
    std::vector<std::string> names(out.request.features.begin(), out.request.features.end());
    auto added = passes::addedOperands(present, names);
    if (!added)
      return added.takeError();
    for (const passes::AddedOperand &operand : *added)
      out.operands.push_back(
          {.name = operand.name,
           .role = operand.role,
           .dtype = operand.dtype,
           .scope = operand.scope,
           .read = operand.role == "state",
           .written = true,
           .axes = operand.scope == "element" ? out.op.info.axes : std::vector<std::string>()});
    for (const passes::Feature &feature : passes::allFeatures())
      if (out.request.features.count(std::string(feature.name)))
        applyFeature(feature);
    return {};
  }

  /// What a feature makes of the op's own operands, and its scalar, which stands before the step.
  void applyFeature(const passes::Feature &feature) {
    for (size_t k = 0; k < out.op.info.operands.size(); ++k)
      if (RequestOperand &operand = out.operands[k]; operand.role == feature.role) {
        operand.written |= passes::writesRole(feature);
        operand.read &= !passes::unreadsRole(feature);
      }
    if (!feature.scalar.empty())
      out.scalars.insert(out.scalars.end() - bool(out.op.info.step), scalarOf(feature));
  }

  static RequestScalar scalarOf(const passes::Feature &feature) {
    RequestScalar scalar{.name = std::string(feature.scalar), .kind = "real"};
    scalar.value = feature.value;
    if (std::isfinite(feature.low)) {
      scalar.low = feature.low;
      scalar.lowOpen = feature.open;
      scalar.range = (feature.open ? "> " : ">= ") + language::printNumber(feature.low);
    }
    return scalar;
  }

  /// The op's own operands through the language's rules; those of features by their full name.
  Result<void> bindDtypes() {
    language::DtypeBindings own;
    for (const auto &[key, dtype] : out.request.dtypes) {
      auto added =
          std::find_if(out.operands.begin() + out.op.info.operands.size(), out.operands.end(),
                       [&](const RequestOperand &operand) { return operand.name == key; });
      if (added == out.operands.end()) {
        own.emplace_back(key, dtype);
      } else if (!language::isDtypeName(dtype)) {
        return usage("expected a dtype for '" + key + "', got '" + dtype + "'",
                     "use one of " + dtypeList());
      } else {
        added->dtype = dtype;
      }
    }
    auto bound = language::bindDtypes(out.op.info, own);
    if (!bound)
      return bound.takeError();
    for (size_t k = 0; k < bound->size(); ++k)
      out.operands[k].dtype = (*bound)[k];
    return {};
  }

  static std::string dtypeList() {
    std::vector<std::string> names;
    for (std::string_view name : language::dtypeNames())
      names.emplace_back(name);
    return join(names);
  }

  Result<void> markAbsent() {
    for (const std::string &name : out.request.absent) {
      auto operand = std::find_if(out.operands.begin(), out.operands.end(),
                                  [&](const RequestOperand &o) { return o.name == name; });
      if (operand == out.operands.end() || !operand->optional)
        return usage("expected the name of an optional operand of '" + out.request.op->name +
                         "', got '" + name + "'",
                     "optional operands: " + join(optionalNames()));
      operand->present = false;
    }
    return {};
  }

  std::vector<std::string> optionalNames() const {
    std::vector<std::string> names;
    for (const RequestOperand &operand : out.operands)
      if (operand.optional)
        names.push_back(operand.name);
    return names;
  }

  Result<void> checkTarget() {
    if (target::isCpuTarget(out.request.target))
      return {};
    for (const std::string *name : {&out.request.target, &out.request.scheduleArch})
      if (!name->empty())
        if (auto arch = target::findArch(*name); !arch)
          return arch.takeError();
    return {};
  }

  /// Facts are of rows on a GPU; one that says what is so without it is dropped.
  Result<void> checkFacts() {
    std::erase_if(out.request.facts, [](const auto &fact) {
      const Fact *known = findFact(fact.first);
      return known && known->fallback == fact.second;
    });
    for (const auto &[name, value] : out.request.facts)
      if (auto message = checkFact(name, value))
        return usage(*message, "leave it out to compile for all tensors");
    if (out.request.facts.empty())
      return {};
    const std::string first = out.request.facts.begin()->first;
    if (out.op.info.axes.empty())
      return usage("expected no facts of an op over elements, got '" + first + "'",
                   "leave it out: its kernels take all tensors");
    if (target::isCpuTarget(out.request.target))
      return usage("expected no facts for the target 'cpu', got '" + first + "'",
                   "name an arch as target, or leave the fact out");
    const bool isRows = out.request.op->domain.kind == language::Domain::Kind::Rows;
    if (out.request.facts.count("row_axes") && !isRows)
      return usage("expected row_axes for an op over rows alone, got it for op '" +
                       out.request.op->name + "'",
                   "leave it out: its axes are named");
    return {};
  }

  Result<void> checkSchedule() {
    for (const auto &[decision, value] : out.request.schedule)
      if (auto message = checkDecision(decision, value))
        return usage(*message, "leave it out to take the rule's choice");
    if (!out.request.schedule.empty() && target::isCpuTarget(out.request.target))
      return usage("expected no schedule decisions for the target 'cpu', got '" +
                       out.request.schedule.begin()->first + "'",
                   "name an arch as target, or leave the decision out");
    return {};
  }

  /// One fact a line; everything that changes the program and nothing else.
  void writeCanonicalText() {
    const Request &request = out.request;
    std::string &text = out.canonicalText;
    text = "request 1\nop " + request.op->name + "\n";
    for (const auto &[option, value] : request.options)
      text += "option " + option + "=" + value + "\n";
    for (const RequestOperand &operand : out.operands)
      text += "operand " + operand.name + " " + (operand.present ? operand.dtype : "absent") + "\n";
    for (const std::string &feature : request.features)
      text += "feature " + feature + "\n";
    text += "mode forward\ntarget " + request.target + "\n";
    if (!request.scheduleArch.empty() && request.scheduleArch != request.target)
      text += "schedule_arch " + request.scheduleArch + "\n";
    for (const auto &[fact, value] : request.facts)
      text += "fact " + fact + "=" + std::to_string(value) + "\n";
    for (const auto &[decision, value] : request.schedule)
      text += "schedule " + decision + "=" + std::to_string(value) + "\n";
  }

  ResolvedRequest out;
};

} // namespace

Result<ResolvedRequest> resolve(const Request &request) { return Resolver(request).run(); }

int64_t factOf(const Request &request, std::string_view name) {
  auto given = request.facts.find(std::string(name));
  return given != request.facts.end() ? given->second : findFact(name)->fallback;
}

std::string describe(const ResolvedRequest &request) {
  std::string out = request.request.op->name + " for " + request.request.target + ":";
  for (const RequestOperand &operand : request.operands)
    out += " " + operand.name + "=" + (operand.present ? operand.dtype : "absent");
  for (const auto &[option, value] : request.request.options)
    out += " " + option + "=" + value;
  for (const std::string &feature : request.request.features)
    out += " +" + feature;
  for (const auto &[fact, value] : request.request.facts)
    out += " " + fact + "=" + std::to_string(value);
  return out;
}

std::vector<std::string> validFeatures(const language::Op &op) {
  std::vector<std::string> names;
  auto resolved = language::resolve(op, {});
  if (!resolved)
    return names;
  std::vector<passes::FeatureOperand> operands;
  for (const language::OperandInfo &info : resolved->info.operands)
    operands.push_back({info.name, std::string(language::info(info.role).name)});
  for (const passes::Feature &feature : passes::allFeatures())
    if (passes::addedOperands(operands, std::vector<std::string>{std::string(feature.name)}))
      names.emplace_back(feature.name);
  return names;
}

} // namespace fw
