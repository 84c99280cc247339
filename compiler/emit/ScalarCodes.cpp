#include "compiler/emit/ScalarCodes.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/emit/Expressions.h"
#include "templates/vocab/scalar_operations.h"

#include <set>

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {
namespace {

struct ScalarText {
  std::string_view name, text;
};
constexpr ScalarText kTexts[] = {
#define FW_TEXT(name, arity, value) {#name, #value},
    FW_SCALAR_OPERATIONS(FW_TEXT)
#undef FW_TEXT
};

/// "round_e4m3fn_sat" for a cast to e4m3fn.sat.
std::string roundingCode(CastOp cast) {
  std::string dtype(dtypeOf(cast.getType(), cast.getSaturate()).name);
  std::replace(dtype.begin(), dtype.end(), '.', '_');
  return "round_" + dtype;
}

} // namespace

std::string scalarCode(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return cast.getType().isF64() ? "" : roundingCode(cast);
  const Spelling *row = findSpelling(spellingKey(op));
  return row ? std::string(row->scalar) : "";
}

std::string printScalarSwitch(ScalarsOp scalars, const std::string &indent) {
  std::set<std::string> codes;
  for (Operation &op : scalars.getBody().front())
    codes.insert(scalarCode(&op));
  std::string out = indent +
                    "static FW_INLINE double scalar(fw::ScalarCode code, double a, double b, "
                    "double c) {\n" +
                    indent + "  switch (code) {\n";
  for (const ScalarText &row : kTexts)
    if (codes.count(std::string(row.name)))
      out += indent + "  case fw::ScalarCode::" + std::string(row.name) + ":\n" + indent +
             "    return " + std::string(row.text) + ";\n";
  return out + indent + "  default:\n" + indent + "    return 0;\n" + indent + "  }\n" + indent +
         "}\n";
}

} // namespace fw::emit
