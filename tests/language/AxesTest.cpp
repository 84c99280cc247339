// What ops over axes become at the semantic level, and that it is read back as it was.
#include "tests/language/card.h"
#include "tests/language/lowering.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace fw::language;

namespace {

/// The op of a text, verified, printed and read back.
std::string roundTrip(std::string_view text, std::string_view name = {}) {
  const std::string printed = moduleText(parsed(text, name), {});
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<fw::fuse::FuseDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(printed, &context);
  EXPECT_TRUE(module && mlir::succeeded(mlir::verify(*module))) << printed;
  std::string again;
  llvm::raw_string_ostream stream(again);
  if (module)
    (*module)->print(stream);
  EXPECT_EQ(again + "\n", printed);
  return printed;
}

} // namespace

TEST(Axes, TheOpsOfTheCardAreReadBack) {
  for (std::string_view text :
       {card::layerNorm, card::maskedSoftmax, card::crossEntropy, card::batchNorm})
    roundTrip(text);
  roundTrip(
      std::string(card::block) +
          "op rms_norm over rows { in x;  column w;  out y;  save r;  r = rsqrt(avg(x^2));  y = "
          "x*r*w }",
      "block");
}

TEST(Axes, ReductionsOfRowsAreOfElementPrecision) {
  const std::string text = roundTrip("op test over rows { in x;  out y;  y = x - avg(x) }");
  EXPECT_NE(text.find(R"(over <axes, kept = ["row"], spanned = ["column"]>)"), text.npos) << text;
  EXPECT_NE(text.find(R"( sum keep <axes, axes = ["row"]> %0 : f32 to f32)"), text.npos) << text;
  EXPECT_NE(text.find(R"(fuse.size <axes, axes = ["column"]>)"), text.npos) << text;
}

TEST(Axes, PlacesDrawsAndIntsAreReadBack) {
  const std::string text = roundTrip(R"(op test over [a; b, c] {
    in x, keep : bool, t[place, b, c];  in k[a] : int;  out y, q : int;  hyper n : int = 4
    q = (index(c) div 2 + k mod 3) << 1;  u = swap_pairs(x, half, n) + swap_pairs(x, interleaved)
    y = if keep then t[k] + u else random() + bits() })");
  for (const char *part :
       {R"(fuse.index "c")", R"(fuse.gather "t" along "place" at)", "fuse.div", "fuse.mod",
        "fuse.shift_left", R"(fuse.swap_pairs %)", R"(fuse.swap_pairs interleaved %)",
        R"(along "c" first)", "fuse.bits 0 seed", "fuse.bits 1 seed",
        R"(scope = <axes, axes = ["place", "b", "c"]>)",
        R"(dtype = "bool", scope = <element>, kind = bool)",
        R"(dtype = "i64", scope = <axes, axes = ["a"]>, kind = int)"})
    EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
}

TEST(Axes, ACalleesEquationsCarryItsName) {
  const std::string text = roundTrip("op half over rows { in x;  out y;  y = x/2  # E1\n }\n"
                                     "op test over rows { in x;  out y\n y = half(x) + 1  # E1\n }",
                                     "test");
  EXPECT_NE(text.find(R"(E1 = "y = half(x) + 1")"), text.npos) << text;
  EXPECT_NE(text.find(R"(half.E1 = "y = x/2")"), text.npos) << text;
  EXPECT_NE(text.find(R"(arith.divf %0, %1 {fuse.label = "half.E1", fuse.name = "half_y"})"),
            text.npos)
      << text;
}
