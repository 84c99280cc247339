#ifndef FW_FUSE_ATTRS
#define FW_FUSE_ATTRS

include "compiler/dialect/FuseDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Fuse_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::fw::fuse";
  let genSpecializedAttr = 0;
}
class Fuse_Attr<string name, string mnem> : AttrDef<Fuse_Dialect, name> { let mnemonic = mnem; }

def Fuse_Role : Fuse_Enum<"Role", "what an operand is to the op", [
  I32EnumAttrCase<"Param", 0, "param">, I32EnumAttrCase<"Grad", 1, "grad">,
  I32EnumAttrCase<"State", 2, "state">, I32EnumAttrCase<"In", 3, "in">,
  I32EnumAttrCase<"Out", 4, "out">,     I32EnumAttrCase<"Row", 5, "row">,
  I32EnumAttrCase<"Column", 6, "column">, I32EnumAttrCase<"Save", 7, "save">]>;
def Fuse_RoleAttr : EnumAttr<Fuse_Dialect, Fuse_Role, "role">;

def Fuse_Kind : Fuse_Enum<"Kind", "type of a value in the op language", [
  I32EnumAttrCase<"Real", 0, "real">, I32EnumAttrCase<"Bool", 1, "bool">,
  I32EnumAttrCase<"Int", 2, "int">]>;
def Fuse_KindAttr : EnumAttr<Fuse_Dialect, Fuse_Kind, "kind">;

def Fuse_ReduceKind : Fuse_Enum<"ReduceKind", "how a reduction combines", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">]>;
def Fuse_ReduceKindAttr : EnumAttr<Fuse_Dialect, Fuse_ReduceKind, "reduce_kind">;

def Fuse_Pattern : Fuse_Enum<"Pattern", "what memory looks like to a kernel", [
  I32EnumAttrCase<"Elements", 0, "elements">, I32EnumAttrCase<"Rows", 1, "rows">,
  I32EnumAttrCase<"RowsColumns", 2, "rows_columns">, I32EnumAttrCase<"Columns", 3, "columns">]>;
def Fuse_PatternAttr : EnumAttr<Fuse_Dialect, Fuse_Pattern, "pattern">;

// Order: each level may be used inside those after it. `world` and `all` are launch-scoped values
// that an exchange or a kernel produces; `axes` stands between tensor and element.
def Fuse_ScopeLevel : Fuse_Enum<"ScopeLevel", "how far a value is uniform", [
  I32EnumAttrCase<"Const", 0, "const">,   I32EnumAttrCase<"Launch", 1, "launch">,
  I32EnumAttrCase<"World", 2, "world">,   I32EnumAttrCase<"All", 3, "all">,
  I32EnumAttrCase<"Group", 4, "group">,   I32EnumAttrCase<"Tensor", 5, "tensor">,
  I32EnumAttrCase<"Blocks", 6, "blocks">, I32EnumAttrCase<"Axes", 7, "axes">,
  I32EnumAttrCase<"Element", 8, "element">]>;

def Fuse_ScopeAttr : Fuse_Attr<"Scope", "scope"> {
  let summary = "the scope of a value: one value per launch, tensor, k elements, named axes, element";
  let description = [{
    ```mlir
    #fuse.scope<launch>
    #fuse.scope<element>
    #fuse.scope<blocks, size = 256>
    #fuse.scope<axes, axes = ["row"]>
    ```
  }];
  let parameters = (ins EnumParameter<Fuse_ScopeLevel>:$level, DefaultValuedParameter<"int64_t", "0">:$size,
                        OptionalParameter<"::mlir::ArrayAttr">:$axes);
  let assemblyFormat = "`<` $level (`,` struct($size, $axes)^)? `>`";
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "ScopeLevel":$level), [{ return $_get($_ctxt, level, 0, ::mlir::ArrayAttr()); }]>];
  let extraClassDeclaration = [{
    /// Const to tensor: computed by the scalar program, in f64.
    bool isUniform() const { return getLevel() <= ScopeLevel::Tensor; }
    bool isElement() const { return getLevel() == ScopeLevel::Element; }
  }];
}

def Fuse_DomainForm : Fuse_Enum<"DomainForm", "a list of tensors, tensors with named axes, or scalars alone", [
  I32EnumAttrCase<"Elements", 0, "elements">, I32EnumAttrCase<"Axes", 1, "axes">,
  I32EnumAttrCase<"Scalars", 2, "scalars">]>;

def Fuse_DomainAttr : Fuse_Attr<"Domain", "domain"> {
  let summary = "what an op runs over: axes kept and, after ';', axes that a row spans";
  let description = [{
    ```mlir
    #fuse.domain<elements>
    #fuse.domain<axes, kept = ["row"], spanned = ["column"]>
    ```
    `elements` is a list of tensors without axes; `scalars` has operands of scope `all` alone.
  }];
  let parameters = (ins EnumParameter<Fuse_DomainForm>:$form,
                        OptionalParameter<"::mlir::ArrayAttr">:$kept, OptionalParameter<"::mlir::ArrayAttr">:$spanned);
  let assemblyFormat = "`<` $form (`,` struct($kept, $spanned)^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isElements() const { return getForm() == DomainForm::Elements; }
    bool isScalars() const { return getForm() == DomainForm::Scalars; }
    bool hasAxes() const { return getForm() == DomainForm::Axes; }
    /// The names of the axes, those kept first; none of a domain without.
    ::llvm::SmallVector<::mlir::StringAttr> axes() const;
  }];
}

def Fuse_OperandAttr : Fuse_Attr<"Operand", "operand"> {
  let summary = "an operand: a list of tensors with a role, a storage dtype and a scope";
  let description = [{
    `dtype` is a name of dtypes.def (it carries the overflow mode). `neutral` is the value that an
    absent optional operand has; `init` the value that a new state starts with.
    ```mlir
    #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>, init = 0.0 : f64>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, EnumParameter<Fuse_Role>:$role, "::mlir::StringAttr":$dtype,
                        "ScopeAttr":$scope, DefaultValuedParameter<"Kind", "Kind::Real">:$kind,
                        OptionalParameter<"::mlir::FloatAttr">:$neutral, OptionalParameter<"::mlir::FloatAttr">:$init);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Fuse_HyperAttr : Fuse_Attr<"Hyper", "hyper"> {
  let summary = "a hyper-parameter or the step: a scalar known at launch";
  let description = [{
    ```mlir
    #fuse.hyper<name = "lr", value = 0.001 : f64>
    #fuse.hyper<name = "t", kind = int>
    ```
    `value` is the default; the step has none.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, DefaultValuedParameter<"Kind", "Kind::Real">:$kind,
                        OptionalParameter<"::mlir::FloatAttr">:$value);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Fuse_ScheduleAttr : Fuse_Attr<"Schedule", "schedule"> {
  let summary = "skeleton and decisions of a kernel";
  let description = [{
    Every decision that the printer or the runtime follows; the names and their legal values stand in
    `schedule.def`.
    ```mlir
    #fuse.schedule<"chunk", {threads = 512, vec = 4, inflight = 2, chunk = 8192}>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$skeleton, "::mlir::DictionaryAttr":$decisions);
  let assemblyFormat = "`<` $skeleton `,` $decisions `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The integer decision `name`; asserts that it is set.
    bool has(::llvm::StringRef name) const;
    int64_t get(::llvm::StringRef name) const;
  }];
}

#endif
