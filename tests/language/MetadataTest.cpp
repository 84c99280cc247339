// What an op says of itself: operands, hypers, options, dtypes; for the shipped ops too.
#include "tests/language/card.h"
#include "tests/language/support.h"

#include "compiler/language/OperandDtypes.h"
#include "compiler/language/Text.h"
#include "ops/Profiles.h"
#include "ops/ShippedOps.h"

#include <limits>
#include <set>

using namespace fw::language;

namespace {

std::string operandsOf(const OpInfo &opInfo) {
  std::string out;
  for (const OperandInfo &operand : opInfo.operands) {
    out += std::string(info(operand.role).name) + " " + operand.name + " " +
           std::string(spelling(operand.access));
    if (operand.initial)
      out += " from " + printNumber(*operand.initial);
    if (operand.neutral)
      out += " or " + printNumber(*operand.neutral);
    out += "; ";
  }
  return out;
}

std::string hypersOf(const OpInfo &opInfo) {
  std::string out;
  for (const HyperInfo &hyper : opInfo.hypers)
    out += hyper.name + " = " + (hyper.value ? printNumber(*hyper.value) : "?") + " " +
           hyper.range.print() + "; ";
  return out;
}

OpInfo infoOf(std::string_view op, const OptionValues &options = {}) {
  fw::Result<OpHandle> handle = fw::findShippedOp(op);
  EXPECT_TRUE(bool(handle)) << (handle ? "" : handle.error().log);
  fw::Result<ResolvedOp> resolved = resolve(**handle, options);
  EXPECT_TRUE(bool(resolved)) << (resolved ? "" : fw::render(resolved.error()));
  return resolved->info;
}

std::string dtypesOf(const OpInfo &opInfo, const DtypeBindings &bindings) {
  fw::Result<std::vector<std::string>> dtypes = bindDtypes(opInfo, bindings);
  if (!dtypes)
    return fw::render(dtypes.error());
  std::string out;
  for (const std::string &dtype : *dtypes)
    out += dtype + " ";
  return out;
}

} // namespace

TEST(Metadata, OfAdamw) {
  OpInfo opInfo = infoOf("adamw");
  EXPECT_EQ(
      operandsOf(opInfo),
      "param p read-write; grad g read; state m read-write from 0; state v read-write from 0; ");
  EXPECT_EQ(hypersOf(opInfo),
            "lr = 0.001 >= 0; beta1 = 0.9 in [0, 1); beta2 = 0.999 in [0, 1); eps = 1e-08 >= 0; "
            "weight_decay = 0.01 >= 0; ");
  EXPECT_EQ(opInfo.step, "t");
  EXPECT_EQ(opInfo.summary,
            "Adam with decoupled weight decay. Loshchilov & Hutter 2019, algorithm 2.");
  ASSERT_EQ(opInfo.options.size(), 3u);
  EXPECT_EQ(opInfo.options[2].values, (std::vector<std::string>{"false", "true"}));
  EXPECT_EQ(opInfo.outputs(), (std::vector<std::string>{"p", "m", "v"}));
}

TEST(Metadata, OperandsExistForTheirOptionValueOnly) {
  EXPECT_EQ(
      operandsOf(infoOf("adamw", {{"amsgrad", "true"}})),
      "param p read-write; grad g read; state m read-write from 0; state v read-write from 0; "
      "state vmax read-write from 0; ");
  OpInfo plain = infoOf("sgd"), nesterov = infoOf("sgd", {{"momentum", "nesterov"}});
  EXPECT_EQ(operandsOf(plain), "param p read-write; grad g read; ");
  EXPECT_EQ(hypersOf(plain), "lr = 0.001 >= 0; weight_decay = 0 >= 0; ");
  EXPECT_FALSE(plain.step);
  EXPECT_EQ(operandsOf(nesterov), "param p read-write; grad g read; state b read-write from 0; ");
  EXPECT_EQ(hypersOf(nesterov),
            "lr = 0.001 >= 0; weight_decay = 0 >= 0; mu = 0.9 >= 0; dampening = 0 >= 0; ");
  EXPECT_EQ(nesterov.step, "t");
}

TEST(Metadata, AccessFollowsFromTheBody) {
  OpHandle op = parsed("op test over elements { param p; state m = 2, n; in x = 1 optional; out y\n"
                       "m = x;  n = old(m) + m;  p = largest(p);  y = p }");
  EXPECT_EQ(operandsOf(resolve(*op, {})->info), "param p write; state m read-write from 2; state n "
                                                "write from 0; in x read or 1; out y write; ");
}

TEST(Metadata, UnboundDtypesComeFromTheRoles) {
  OpInfo adamw = infoOf("adamw"), axpby = infoOf("axpby");
  EXPECT_EQ(dtypesOf(adamw, {}), "f32 f32 f32 f32 ");
  EXPECT_EQ(dtypesOf(adamw, {{"param", "bf16"}}), "bf16 bf16 f32 f32 ");
  EXPECT_EQ(dtypesOf(adamw, {{"state", "f16"}, {"grad", "bf16"}}), "f32 bf16 f16 f16 ");
  EXPECT_EQ(dtypesOf(axpby, {{"in", "bf16"}}), "bf16 bf16 bf16 ");
  EXPECT_EQ(dtypesOf(axpby, {{"y", "f16"}}), "f32 f16 f32 ");
  EXPECT_EQ(dtypesOf(infoOf("cast"), {{"y", "e4m3fn.sat"}}), "f32 e4m3fn.sat ");
}

TEST(Metadata, AnOperandsNameWinsOverItsRole) {
  EXPECT_EQ(dtypesOf(infoOf("adamw"), {{"m", "bf16"}, {"state", "f16"}}), "f32 f32 bf16 f16 ");
}

TEST(Metadata, RolesBindOperandsWithAValuePerElement) {
  OpHandle op =
      parsed("op test over elements { in s[all]; in x; state k[tensor]; out n[all]; out y\n"
             "k = s*k;  n = sum[all](x);  y = k*x }");
  OpInfo opInfo = resolve(*op, {})->info;
  EXPECT_EQ(dtypesOf(opInfo, {}), "f32 f32 f32 f32 f32 ");
  EXPECT_EQ(dtypesOf(opInfo, {{"in", "bf16"}}), "f32 bf16 f32 f32 bf16 ");
  EXPECT_EQ(dtypesOf(opInfo, {{"out", "f16"}, {"n", "f64"}}), "f32 f32 f32 f64 f16 ");
  EXPECT_EQ(
      dtypesOf(opInfo, {{"state", "bf16"}}),
      "expected an operand or a role of op 'test' as the key of a dtype, got 'state'; its keys "
      "are s, x, k, n, y, in or out");
}

TEST(Metadata, DtypeKeysAndNamesAreChecked) {
  EXPECT_EQ(dtypesOf(infoOf("cast"), {{"p", "f32"}}),
            "expected an operand or a role of op 'cast' as the key of a dtype, got 'p'; its keys "
            "are x, y, in or out");
  EXPECT_EQ(dtypesOf(infoOf("cast"), {{"x", "float"}}),
            "expected a dtype for 'x', got 'float'; dtypes are f32, f64, f16, bf16, e4m3fn, "
            "e4m3fn.sat, e5m2 or e5m2.sat");
}

TEST(Metadata, OptionsAreChecked) {
  OpHandle op = *fw::findShippedOp("adamw");
  EXPECT_EQ(fw::render(resolve(*op, {{"decay", "none"}}).error()),
            "expected decoupled or l2 for option 'decay' of op 'adamw', got 'none'; choose one of "
            "its values");
  EXPECT_EQ(fw::render(resolve(*op, {{"nesterov", "true"}}).error()),
            "expected an option of op 'adamw', got 'nesterov'; its options are decay, amsgrad or "
            "maximize");
  EXPECT_EQ(fw::render(resolve(**fw::findShippedOp("cast"), {{"a", "b"}}).error()),
            "expected an option of op 'cast', got 'a'; this op has no options");
}

TEST(Metadata, HypersAreCheckedAgainstTheirRange) {
  OpInfo adamw = infoOf("adamw");
  EXPECT_TRUE(bool(validateHyper(*adamw.hyper("beta1"), 0)));
  EXPECT_EQ(fw::render(validateHyper(*adamw.hyper("beta1"), 1).error()),
            "expected beta1 in [0, 1), got 1; its default is 0.9");
  EXPECT_EQ(
      fw::render(
          validateHyper(*adamw.hyper("lr"), std::numeric_limits<double>::quiet_NaN()).error()),
      "expected lr >= 0, got nan; its default is 0.001");
  EXPECT_TRUE(
      bool(validateHyper(*infoOf("scale").hyper("a"), std::numeric_limits<double>::quiet_NaN())));
}

TEST(Metadata, ABoolHyperIsZeroOrOne) {
  OpHandle op = parsed("op test over elements { in x; out y; hyper on : bool = true, off : bool\n"
                       "y = if on and not off then x else -x }");
  OpInfo opInfo = resolve(*op, {})->info;
  EXPECT_EQ(opInfo.hyper("on")->type, Type::Bool);
  EXPECT_EQ(opInfo.hyper("on")->value, 1);
  EXPECT_EQ(opInfo.hyper("off")->value, std::nullopt);
  EXPECT_TRUE(bool(validateHyper(*opInfo.hyper("on"), 0)));
  EXPECT_TRUE(bool(validateHyper(*opInfo.hyper("on"), 1)));
  EXPECT_EQ(fw::render(validateHyper(*opInfo.hyper("on"), 0.5).error()),
            "expected 0 or 1 for bool on, got 0.5; pass 0 for false and 1 for true");
}

TEST(Metadata, ResolveKeepsTheChosenArmsInOrder) {
  OpHandle op = *fw::findShippedOp("sgd");
  ResolvedOp resolved = *resolve(*op, {{"momentum", "nesterov"}});
  std::string names;
  for (const Assignment *assignment : resolved.body)
    names += assignment->name + ":" + assignment->label + " ";
  EXPECT_EQ(names, "a: d:E1 b:E2 u:E3 p:E4 ");
}

TEST(ShippedOps, AreTheOpsOfTheFilesSorted) {
  std::set<std::string> sorted;
  for (const fw::ShippedFile &file : fw::shippedFiles()) {
    auto parsedFile = OpFile::parse(file.text, file.name, &fw::shippedLibrary());
    ASSERT_TRUE(bool(parsedFile)) << parsedFile.error().log;
    for (const Op &op : (*parsedFile)->ops())
      EXPECT_TRUE(sorted.insert(op.name).second) << op.name << " twice";
  }
  EXPECT_EQ(fw::shippedOpNames(), std::vector<std::string>(sorted.begin(), sorted.end()));
  EXPECT_TRUE(sorted.count("adamw"));
  EXPECT_EQ(fw::render(fw::findShippedOp("adamv").error()),
            "expected a shipped op, got 'adamv'; did you mean 'adamw'");
}

TEST(ShippedOps, HaveNoWarningAndASummary) {
  for (const fw::ShippedFile &file : fw::shippedFiles()) {
    auto parsedFile = OpFile::parse(file.text, file.name, &fw::shippedLibrary());
    ASSERT_TRUE(bool(parsedFile)) << parsedFile.error().log;
    EXPECT_EQ((*parsedFile)->warnings(), "") << file.name;
    for (const Op &op : (*parsedFile)->ops())
      EXPECT_NE(op.summary, "") << op.name;
  }
}

TEST(Profiles, NameShippedOpsTheirOptionsAndTheirOperands) {
  std::set<std::string> ops;
  std::vector<fw::Profile> profiles = fw::shippedProfiles();
  for (fw::Profile &profile : fw::evaluatedProfiles())
    profiles.push_back(std::move(profile));
  for (const fw::Profile &profile : profiles) {
    ops.insert(profile.op);
    OpInfo opInfo = infoOf(profile.op, profile.options);
    DtypeBindings own = profile.dtypes; // those of features belong to the features
    std::erase_if(own,
                  [](const auto &binding) { return binding.first.find('.') != std::string::npos; });
    EXPECT_TRUE(bool(bindDtypes(opInfo, own))) << dtypesOf(opInfo, own);
  }
  std::vector<std::string> names = fw::shippedOpNames();
  EXPECT_EQ(ops, std::set<std::string>(names.begin(), names.end()));
}
