// Ops over axes without reductions: the CPU and the evaluator's machine arithmetic agree bit for
// bit.
#include "compiler/Reference.h"
#include "compiler/Request.h"
#include "ops/ShippedOps.h"
#include "tests/axes/Evaluated.h"

using namespace axes;

namespace {

const std::string kText = R"(op test over [batch, head; key] {
  in x, w[batch, 1, key], b[head], k[batch] : int, keep : bool
  out y, q : int, odd[batch, head] : bool;  hyper scale = 0.3, n : int = 5
  d = index(key) - index(head)*k
  y = if keep then exp(scale*x)*w + tanh(b)*(d mod n) else x/w - sqrt(abs(x))
  q = (d div 3 << 2) + xor(d, n)
  odd = and_(k + index(head), 1) == 1
})";

} // namespace

TEST(Bits, OfRowsWithoutReductionsAreTheEvaluators) {
  const Choices choices = {.dtypes = {{"x", "bf16"}, {"w", "f16"}, {"y", "bf16"}, {"q", "i16"}}};
  for (int64_t keys : {1, 7, 8, 40, 67}) {
    Evaluated op(kText, choices);
    const Shape all = {2, 3, keys};
    op.set("x", all, wavy(count(all))).set("w", {2, 1, keys}, wavy(size_t(2 * keys), 1));
    op.set("b", {3}, wavy(3, 2)).set("k", {2}, {-2, 7}).set("y", all).set("q", all);
    Numbers keep;
    for (size_t i = 0; i < count(all); ++i)
      keep.push_back(i % 3 != 0);
    op.set("keep", all, keep).set("odd", {2, 3});
    ASSERT_EQ(op.launch(), "");

    fw::Request request;
    request.op = *fw::language::parseOp(kText, "test.fuse", {}, &fw::shippedLibrary());
    request.dtypes = choices.dtypes;
    auto resolved = fw::resolve(request);
    ASSERT_TRUE(bool(resolved)) << render(resolved.error());
    auto reference = fw::Reference::make(*resolved);
    ASSERT_TRUE(bool(reference)) << render(reference.error());
    EXPECT_FALSE(reference->reduces());
    std::vector<Numbers> data;
    for (const fw::RequestOperand &operand : resolved->operands)
      data.push_back(op.stored(operand.name));
    fw::evaluator::Inputs inputs;
    inputs.extents = {{2, 3, size_t(keys)}};
    for (const Numbers &numbers : data)
      inputs.data.push_back({numbers});
    inputs.scalars = {{0.3, 5}};
    auto bits = reference->interpret(inputs);
    ASSERT_TRUE(bool(bits)) << render(bits.error());
    for (const auto &output : bits->operands) {
      const Numbers produced = op.stored(output.operand);
      const fw::Dtype *real = fw::findDtype(output.dtype);
      for (size_t i = 0; i < produced.size(); ++i) {
        const uint64_t word = output.tensors[0][i];
        const double expected = real ? fw::evaluator::decode(*real, word)
                                     : double(fw::decodeInt(*fw::findIntDtype(output.dtype), word));
        EXPECT_TRUE(produced[i] == expected || (std::isnan(produced[i]) && std::isnan(expected)))
            << output.operand << "[" << i << "] of " << keys << ": " << produced[i] << " is not "
            << expected;
      }
    }
  }
}
