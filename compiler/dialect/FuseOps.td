#ifndef FW_FUSE_OPS
#define FW_FUSE_OPS

include "compiler/dialect/FuseAttrs.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Fuse_Op<string mnemonic, list<Trait> traits = []> : Op<Fuse_Dialect, mnemonic, traits>;

def Fuse_Real : AnyTypeOf<[F32, F64], "f32 or f64">;
def Fuse_Value : AnyTypeOf<[F32, F64, I1, I64], "f32, f64, i1 or i64">;
def Fuse_Storage : AnyTypeOf<[F32, F64, F16, BF16, F8E4M3FN, F8E5M2], "a storage dtype">;
// A bool or an int travels as i1 or i64; how wide its storage is says the operand's dtype.
def Fuse_Loaded : AnyTypeOf<[F32, F64, F16, BF16, F8E4M3FN, F8E5M2, I1, I64], "a storage dtype, i1 or i64">;
def Fuse_Operands : TypedArrayAttrBase<Fuse_OperandAttr, "operands">;
def Fuse_Scalars : TypedArrayAttrBase<Fuse_HyperAttr, "scalars">;

//===-- Semantic level ----------------------------------------------------------------------------//

def Fuse_OpOp : Fuse_Op<"op", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "one op of an op file: equations over its operands";
  let description = [{
    ```mlir
    fuse.op @scale over <elements>
        operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
                  #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
        scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
      %0 = fuse.scalar "a" : f64
      %1 = fuse.uniform %0 : f64 to f32
      %2 = fuse.read "x" : f32
      %3 = arith.mulf %1, %2 : f32
      fuse.write "y", %3 : f32
    }
    ```
    `equations` maps each label to the source text of its statements.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Fuse_DomainAttr:$domain, Fuse_Operands:$operands,
                       Fuse_Scalars:$scalars, OptionalAttr<DictionaryAttr>:$equations);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `over` $domain `operands` $operands `scalars` $scalars attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Fuse_ReadOp : Fuse_Op<"read", [Pure]> {
  let summary = "the value of an operand before the op, in arithmetic precision";
  let arguments = (ins StrAttr:$operand);
  let results = (outs Fuse_Value:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Fuse_WriteOp : Fuse_Op<"write", [MemoryEffects<[MemWrite]>, ParentOneOf<["OpOp", "ScalarsOp"]>]> {
  let summary = "the new value of an operand; rounded to its storage dtype when stored";
  let description = [{
    An operand with one value per tensor or plan is written by the scalar program. One of role `out`
    reports, so it is written even where `fuse.skip_if` holds everything else back.
  }];
  let arguments = (ins StrAttr:$operand, Fuse_Value:$value);
  let assemblyFormat = "$operand `,` $value attr-dict `:` type($value)";
}

def Fuse_ScalarOp : Fuse_Op<"scalar", [Pure]> {
  let summary = "a hyper-parameter (f64, i1 or i64) or the step (i64)";
  let arguments = (ins StrAttr:$scalar);
  let results = (outs AnyTypeOf<[F64, I1, I64]>:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($result)";
}

def Fuse_UniformOp : Fuse_Op<"uniform", [Pure]> {
  let summary = "a uniform value as an element uses it: rounded once to arithmetic precision";
  let arguments = (ins AnyTypeOf<[F64, I1, I64]>:$value);
  let results = (outs AnyTypeOf<[F32, F64, I1, I64]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `to` type($result)";
  let hasVerifier = 1;
}

def Fuse_StoredOp : Fuse_Op<"stored", [Pure, SameOperandsAndResultType]> {
  let summary = "what the storage rounding of an operand makes of a value; resolved by specialise";
  let arguments = (ins StrAttr:$operand, Fuse_Real:$value);
  let results = (outs Fuse_Real:$result);
  let assemblyFormat = "$operand `,` $value attr-dict `:` type($value)";
}

def Fuse_RoundToOp : Fuse_Op<"round_to", [Pure, SameOperandsAndResultType]> {
  let summary = "a value rounded to a storage dtype and back; resolved by specialise";
  let arguments = (ins StrAttr:$dtype, Fuse_Real:$value);
  let results = (outs Fuse_Real:$result);
  let assemblyFormat = "$dtype `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Fuse_LargestOp : Fuse_Op<"largest", [Pure]> {
  let summary = "the largest finite value of an operand's storage dtype; resolved by specialise";
  let arguments = (ins StrAttr:$operand);
  let results = (outs F64:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Fuse_ReduceOp : Fuse_Op<"reduce", [Pure]> {
  let summary = "a reduction; `keep` names what is kept";
  let description = [{
    Over each place that the value, or what is kept, varies with, once. What keeps a tensor, all
    tensors or the world is a value of the scalar program, so f64; what keeps axes has element
    precision, as the values reduced have. `max` and `min` propagate NaN. Of no elements, `sum` is
    0, `max` -inf and `min` inf.
    ```mlir
    %norm2 = fuse.reduce sum keep <all> %square : f32 to f64
    %total = fuse.reduce sum keep <axes, axes = ["row"]> %x : f32 to f32
    ```
  }];
  let arguments = (ins Fuse_ReduceKindAttr:$kind, Fuse_ScopeAttr:$keep, Fuse_Real:$value);
  let results = (outs Fuse_Real:$result);
  let assemblyFormat = "$kind `keep` $keep $value attr-dict `:` type($value) `to` type($result)";
  let hasVerifier = 1;
}

def Fuse_SizeOp : Fuse_Op<"size", [Pure, ParentOneOf<["OpOp", "ScalarsOp"]>]> {
  let summary = "the number of elements of a tensor or of all tensors of a plan, or of places on an axis";
  let description = [{
    ```mlir
    %0 = fuse.size <all>
    %1 = fuse.size <axes, axes = ["column"]>
    ```
  }];
  let arguments = (ins Fuse_ScopeAttr:$of);
  let results = (outs I64:$result);
  let assemblyFormat = "$of attr-dict";
  let hasVerifier = 1;
}

def Fuse_IndexOp : Fuse_Op<"index", [Pure, ParentOneOf<["OpOp", "ScalarsOp", "KernelOp", "EachOp"]>]> {
  let summary = "the number of a tensor in its plan, or of the place on an axis, from 0";
  let description = [{
    The empty tensors are counted too, group after group.
    ```mlir
    %0 = fuse.index
    %1 = fuse.index "column"
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "($axis^)? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, $_builder.getI64Type(), ::mlir::StringAttr()); }]>];
}

def Fuse_GatherOp : Fuse_Op<"gather", [Pure]> {
  let summary = "the value of an operand at a place of one axis, and here on its others";
  let description = [{
    Outside of the axis it is NaN, 0 of an int and false of a bool. At the phase level it gives what
    is stored.
    ```mlir
    %0 = fuse.gather "x" along "column" at %i : f32
    ```
  }];
  let arguments = (ins StrAttr:$operand, StrAttr:$axis, I64:$place);
  let results = (outs Fuse_Loaded:$result);
  let assemblyFormat = "$operand `along` $axis `at` $place attr-dict `:` type($result)";
}

def Fuse_SwapPairsOp : Fuse_Op<"swap_pairs", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "the value at the other place of a pair on an axis";
  let description = [{
    Pairs are formed of the first `count` places: of each place and the one half of them away, or of
    neighbours where `interleaved`. A place without a partner keeps its own value.
    ```mlir
    %0 = fuse.swap_pairs %x along "column" first %n : f32
    %1 = fuse.swap_pairs interleaved %x along "column" first %n : f32
    ```
  }];
  let arguments = (ins Fuse_Real:$value, StrAttr:$axis, I64:$count, UnitAttr:$interleaved);
  let results = (outs Fuse_Real:$result);
  let assemblyFormat = "(`interleaved` $interleaved^)? $value `along` $axis `first` $count attr-dict `:` type($value)";
}

def Fuse_BitsOp : Fuse_Op<"bits", [Pure]> {
  let summary = "16 random bits of an element";
  let description = [{
    Of Philox4x32-10: the key is `seed`, the counter (number of the element / 8, `offset`, `draw`);
    the element takes the half word that the rest of that division counts, from the lowest bits of
    the first word up. Elements are numbered row-major over the axes of the op. In a pass over columns
    `first` is the number of the row's first element, to which that of the column is added: elements
    whose numbers have one quotient by 8 are of one draw.
    ```mlir
    %0 = fuse.bits 0 seed %seed offset %offset
    %1 = fuse.bits 0 seed %seed offset %offset first %n
    ```
  }];
  let arguments = (ins I64Attr:$draw, I64:$seed, I64:$offset, Optional<I64>:$first);
  let results = (outs I64:$result);
  let assemblyFormat = "$draw `seed` $seed `offset` $offset (`first` $first^)? attr-dict";
}

def Fuse_SkipIfOp : Fuse_Op<"skip_if", [MemoryEffects<[MemWrite]>, ParentOneOf<["OpOp", "ScalarsOp", "KernelOp"]>]> {
  let summary = "where the condition holds, nothing is written but what reports";
  let description = [{
    One decision for all tensors of a plan, made before the first write. Steps are not counted then.
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

//===-- Arithmetic beyond arith and math -----------------------------------------------------------//

class Fuse_Unary<string mnemonic> : Fuse_Op<mnemonic, [Pure, SameOperandsAndResultType, Elementwise]> {
  let arguments = (ins Fuse_Real:$value);
  let results = (outs Fuse_Real:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}
def Fuse_SignOp : Fuse_Unary<"sign"> { let summary = "-1, 0 or 1; a zero keeps its sign, NaN stays NaN"; }
def Fuse_SigmoidOp : Fuse_Unary<"sigmoid"> { let summary = "1 / (1 + exp(-x))"; }

class Fuse_WholeBinary<string mnemonic> : Fuse_Op<mnemonic, [Pure, Elementwise]> {
  let arguments = (ins I64:$left, I64:$right);
  let results = (outs I64:$result);
  let assemblyFormat = "$left `,` $right attr-dict";
}
def Fuse_IntDivOp : Fuse_WholeBinary<"div"> { let summary = "quotient of ints, rounded down; 0 of a division by 0"; }
def Fuse_IntModOp : Fuse_WholeBinary<"mod"> {
  let summary = "what a division rounded down leaves, with the divisor's sign; of a division by 0 all of it";
}
def Fuse_ShiftLeftOp : Fuse_WholeBinary<"shift_left"> { let summary = "left << right; 0 where right is not within 0 and 63"; }
def Fuse_ShiftRightOp : Fuse_WholeBinary<"shift_right"> {
  let summary = "left >> right with the sign; 0 or -1 where right is not within 0 and 63";
}

def Fuse_CastOp : Fuse_Op<"cast", [Pure]> {
  let summary = "conversion between floating-point formats, round to nearest even, in one rounding";
  let description = [{
    NaN becomes 0x7fff in bf16 and f16 and keeps its sign in the 8-bit formats. `saturate` gives the
    largest finite value where the result would be inf (e5m2) or NaN (e4m3fn) by overflow.
  }];
  let arguments = (ins Fuse_Storage:$value, UnitAttr:$saturate);
  let results = (outs Fuse_Storage:$result);
  let assemblyFormat = "(`saturate` $saturate^)? $value attr-dict `:` type($value) `to` type($result)";
  let hasVerifier = 1;
}

//===-- Phase level -------------------------------------------------------------------------------//

def Fuse_ProgramOp : Fuse_Op<"program", [IsolatedFromAbove, Symbol, SymbolTable, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "what a request compiles to: scalar programs and kernels, in the order they run";
  let description = [{
    Each kernel reads the results of the scalar program right before it. A kernel whose passes reduce
    ends with `fuse.reduction`; the scalar programs behind it read that as `fuse.reduced`. All
    elements are stored by the last kernel, so the ones before it may be skipped over. A program over
    axes names them; one over elements has no `over`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Fuse_Operands:$operands, Fuse_Scalars:$scalars,
                       OptionalAttr<DictionaryAttr>:$equations, OptionalAttr<Fuse_DomainAttr>:$domain);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name (`over` $domain^)? `operands` $operands `scalars` $scalars attr-dict-with-keyword $body";
}

def Fuse_ScalarsOp : Fuse_Op<"scalars", [SingleBlock, NoTerminator, NoRegionArguments, HasParent<"ProgramOp">]> {
  let summary = "the scalar program: f64 operations on hyper-parameters and the step, once per launch";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Fuse_ResultOp : Fuse_Op<"result", [HasParent<"ScalarsOp">]> {
  let summary = "a result of the scalar program, rounded once; read by kernels as a slot";
  let arguments = (ins StrAttr:$slot, AnyTypeOf<[F64, I1, I64]>:$value, TypeAttr:$type);
  let assemblyFormat = "$slot `,` $value attr-dict `:` type($value) `to` $type";
}

def Fuse_KernelOp : Fuse_Op<"kernel", [Symbol, SingleBlock, NoTerminator, NoRegionArguments, HasParent<"ProgramOp">]> {
  let summary = "one kernel: uniform slots and passes over the elements";
  let description = [{
    `real` is the arithmetic precision. `schedule` is absent until the pass `schedule` (the CPU does
    without it), which also writes down the facts that it went by where the kernel has rows.

    In a kernel of the pattern `rows` each `fuse.each` is a pass over the columns of one row. What
    stands beside them is computed once a row: loads and stores of what a row has one of, and
    arithmetic on what the passes before have reduced.
    ```mlir
    fuse.kernel @softmax rows f32 {
      %t = fuse.each [#fuse.reduce_kind<max>] -> (f32) { ... }
      %z = fuse.each [#fuse.reduce_kind<sum>] -> (f32) { ... arith.subf %x, %t ... }
      fuse.each { ... fuse.store "y", ... }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Fuse_PatternAttr:$pattern, TypeAttr:$real,
                       OptionalAttr<DictionaryAttr>:$facts, OptionalAttr<Fuse_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $pattern $real (`facts` $facts^)? (`schedule` $schedule^)? attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// What is known of the tensors of a scheduled kernel over rows (facts.def).
    int64_t fact(::llvm::StringRef name);
  }];
  let hasVerifier = 1;
}

def Fuse_ReductionOp : Fuse_Op<"reduction", [HasParent<"KernelOp">]> {
  let summary = "hands a reduction of a pass over to the scalar programs behind the kernel";
  let arguments = (ins StrAttr:$name, Fuse_ScopeAttr:$keep, Fuse_Real:$value);
  let assemblyFormat = "$name `keep` $keep $value attr-dict `:` type($value)";
}

def Fuse_ReducedOp : Fuse_Op<"reduced", [Pure, HasParent<"ScalarsOp">]> {
  let summary = "a reduction that a kernel before has handed over";
  let arguments = (ins StrAttr:$name);
  let results = (outs F64:$result);
  let assemblyFormat = "$name attr-dict";
  let hasVerifier = 1;
}

def Fuse_SlotOp : Fuse_Op<"slot", [Pure, ParentOneOf<["KernelOp"]>]> {
  let summary = "reads a result of the scalar program before the kernel";
  let arguments = (ins StrAttr:$slot);
  let results = (outs AnyTypeOf<[F32, F64, I1, I64]>:$result);
  let assemblyFormat = "$slot attr-dict `:` type($result)";
}

def Fuse_EachOp : Fuse_Op<"each", [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments, RecursiveMemoryEffects, ParentOneOf<["KernelOp"]>]> {
  let summary = "one pass over the elements that a thread owns";
  let description = [{
    Results are reductions of the yielded values, combined by `kinds`.
  }];
  let arguments = (ins OptionalAttr<TypedArrayAttrBase<Fuse_ReduceKindAttr, "reduction kinds">>:$kinds);
  let results = (outs Variadic<Fuse_Real>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "($kinds^ `->` type($results))? $body attr-dict";
}

def Fuse_YieldOp : Fuse_Op<"yield", [Terminator, Pure, ParentOneOf<["EachOp"]>]> {
  let summary = "ends a pass; its values are the pass's reductions";
  let arguments = (ins Variadic<Fuse_Real>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Fuse_LoadOp : Fuse_Op<"load", [MemoryEffects<[MemRead]>, ParentOneOf<["EachOp", "KernelOp"]>]> {
  let summary = "loads an element of an operand, or in a kernel over rows the row's, as it is stored";
  let arguments = (ins StrAttr:$operand);
  let results = (outs Fuse_Loaded:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Fuse_LoadPairOp : Fuse_Op<"load_pair", [MemoryEffects<[MemRead]>, ParentOneOf<["EachOp"]>]> {
  let summary = "loads the element at the other place of a pair of columns, as it is stored";
  let description = [{
    What becomes of `fuse.swap_pairs`: its value is computed once more, of what is loaded here. Pairs
    are formed of the first `count` columns: of neighbours where `interleaved` (so vectors of an even
    number of columns that start at an even one hold both), else of each column and the one half of
    them away. A column without a partner is its own. An operand that is read so has no memory in
    common with one that is written.
    ```mlir
    %0 = fuse.load_pair "x" first %n : bf16
    %1 = fuse.load_pair interleaved "x" first %n : bf16
    ```
  }];
  let arguments = (ins StrAttr:$operand, I64:$count, UnitAttr:$interleaved);
  let results = (outs Fuse_Loaded:$result);
  let assemblyFormat = "(`interleaved` $interleaved^)? $operand `first` $count attr-dict `:` type($result)";
}

def Fuse_PairIndexOp : Fuse_Op<"pair_index", [Pure, ParentOneOf<["EachOp"]>]> {
  let summary = "the number of the column at the other place of a pair";
  let arguments = (ins I64:$count, UnitAttr:$interleaved);
  let results = (outs I64:$result);
  let assemblyFormat = "(`interleaved` $interleaved^)? `first` $count attr-dict";
}

def Fuse_StoreOp : Fuse_Op<"store", [MemoryEffects<[MemWrite]>, ParentOneOf<["EachOp", "KernelOp"]>]> {
  let summary = "stores an element of an operand, or in a kernel over rows the row's";
  let arguments = (ins StrAttr:$operand, Fuse_Loaded:$value);
  let assemblyFormat = "$operand `,` $value attr-dict `:` type($value)";
}

#endif
