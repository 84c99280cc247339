#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/Fuse.h"
#include "compiler/dialect/ScheduleTable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fw::fuse;

#include "compiler/dialect/FuseEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/FuseAttrs.cpp.inc"

void FuseDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/FuseAttrs.cpp.inc"
      >();
}

static bool isNameList(ArrayAttr names) {
  return names && llvm::all_of(names, [](Attribute name) { return isa<StringAttr>(name); });
}

LogicalResult ScopeAttr::verify(function_ref<InFlightDiagnostic()> emitError, ScopeLevel level,
                                int64_t size, ArrayAttr axes) {
  if ((level == ScopeLevel::Blocks) != (size > 0))
    return emitError() << "expected a size above 0 with scope blocks and with no other, got "
                       << size;
  if ((level == ScopeLevel::Axes) != (axes != nullptr) || (axes && !isNameList(axes)))
    return emitError() << "expected axis names with scope axes and with no other, got " << axes;
  return success();
}

LogicalResult DomainAttr::verify(function_ref<InFlightDiagnostic()> emitError, DomainForm form,
                                 ArrayAttr kept, ArrayAttr spanned) {
  bool wantsAxes = form == DomainForm::Axes;
  for (ArrayAttr names : {kept, spanned})
    if (names && (!wantsAxes || !isNameList(names)))
      return emitError() << "expected axis names with domain axes and with no other, got " << names;
  return success();
}

SmallVector<StringAttr> DomainAttr::axes() const {
  SmallVector<StringAttr> names;
  for (ArrayAttr part : {getKept(), getSpanned()})
    if (part)
      llvm::append_range(names, part.getAsRange<StringAttr>());
  return names;
}

/// Whether a value of `kind` can be stored as `dtype`.
static bool stores(StringRef dtype, Kind kind) {
  const fw::IntDtype *ints = fw::findIntDtype({dtype.data(), dtype.size()});
  if (kind == Kind::Real)
    return fw::findDtype({dtype.data(), dtype.size()});
  return ints && ints->isBool == (kind == Kind::Bool);
}

LogicalResult OperandAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name,
                                  Role role, StringAttr dtype, ScopeAttr, Kind kind,
                                  FloatAttr neutral, FloatAttr init) {
  if (name.empty())
    return emitError() << "expected an operand name, got an empty string";
  if (!stores(dtype.getValue(), kind) && kind != Kind::Real)
    return emitError() << "expected a dtype of kind " << stringifyKind(kind) << ", got " << dtype;
  if (!stores(dtype.getValue(), kind))
    return emitError() << "expected one of the dtypes " << fw::listDtypes() << ", got " << dtype;
  if (init && role != Role::State)
    return emitError() << "expected 'init' on a state only, got it on " << stringifyRole(role);
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringAttr skeleton, DictionaryAttr decisions) {
  if (skeleton.empty())
    return emitError() << "expected a skeleton's name, got an empty string";
  for (NamedAttribute decision : decisions) {
    auto value = dyn_cast<IntegerAttr>(decision.getValue());
    if (!value)
      return emitError() << "expected an integer as decision " << decision.getName() << ", got "
                         << decision.getValue();
    StringRef name = decision.getName();
    if (auto message = fw::checkDecision({name.data(), name.size()}, value.getInt()))
      return emitError() << *message;
  }
  return success();
}

bool ScheduleAttr::has(StringRef name) const { return getDecisions().contains(name); }

int64_t ScheduleAttr::get(StringRef name) const {
  auto value = getDecisions().getAs<IntegerAttr>(name);
  assert(value && "the pass `schedule` sets every decision of its skeleton");
  return value.getInt();
}
