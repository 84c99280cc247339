#ifndef FW_PASSES
#define FW_PASSES

include "mlir/Pass/PassBase.td"

class Fw_Pass<string name, string on> : Pass<name, on> {
  // The one construction of an op that is not among a pass's inputs is of these two dialects.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

//===-- Semantic level ----------------------------------------------------------------------------//

def InferScopes : Fw_Pass<"infer-scopes", "::fw::fuse::OpOp"> {
  let summary = "give every value its scope, and refuse values used outside of theirs";
  let description = [{
    The scope of a value is how far it is uniform: `const` for constants, `launch` for
    hyper-parameters and the step, the operand's scope for `fuse.read`, the scope kept for
    `fuse.reduce`, and the least scope that contains all operands for everything else. It is printed
    as the attribute `fuse.scope`.

    ```mlir
    %0 = fuse.scalar "lr" : f64
    %1 = fuse.uniform %0 : f64 to f32
    %2 = fuse.read "g" : f32
    %3 = arith.mulf %1, %2 : f32
    ```
    becomes
    ```mlir
    %0 = fuse.scalar "lr" {fuse.scope = #fuse.scope<launch>} : f64
    %1 = fuse.uniform %0 {fuse.scope = #fuse.scope<launch>} : f64 to f32
    %2 = fuse.read "g" {fuse.scope = #fuse.scope<element>} : f32
    %3 = arith.mulf %1, %2 {fuse.scope = #fuse.scope<element>} : f32
    ```

    Refused: an element value in the scalar program (`fuse.uniform` of it), a uniform value that
    meets an element without `fuse.uniform`, a reduction that keeps a scope its value does not vary
    in, and an operand written with a value that varies more than the operand does.
  }];
  let statistics = [
    Statistic<"numUniform", "uniform", "values of the scalar program">,
    Statistic<"numElement", "element", "values of an element">];
}

def Specialise : Fw_Pass<"specialise", "::fw::fuse::OpOp"> {
  let summary = "bind storage dtypes to operands and settle what depends on them";
  let description = [{
    With `dtypes=g=bf16,m=bf16`:
    ```mlir
    fuse.op @demo over <elements>
        operands [..., #fuse.operand<name = "m", role = state, dtype = "f32", ...>] ... {
      %1 = fuse.stored "m", %0 : f32
      %2 = fuse.largest "m" : f64
      %3 = fuse.uniform %2 : f64 to f32
    ```
    becomes
    ```mlir
    fuse.op @demo over <elements>
        operands [..., #fuse.operand<name = "m", role = state, dtype = "bf16", ...>] ... {
      %1 = fuse.cast %0 : f32 to bf16
      %2 = fuse.cast %1 : bf16 to f32
      %3 = arith.constant 3.38953139E+38 : f32
    ```
    `fuse.round_to` is resolved like `fuse.stored`, with the dtype that it names. An operand that
    `dtypes` does not name keeps its dtype. Element arithmetic is f32; it becomes f64
    when a parameter is stored in f64, or, in an op without parameters, an input. A constant that
    reaches elements through `fuse.uniform` is rounded here, once, to that precision.
  }];
  let options = [
    Option<"dtypes", "dtypes", "std::string", "\"\"", "operand=dtype pairs, separated by commas">];
  let statistics = [
    Statistic<"numBound", "bound", "operands whose dtype changed">,
    Statistic<"numStored", "stored", "fuse.stored that became casts">,
    Statistic<"numWidened", "widened", "values that became f64">];
}

class Fw_Feature<string name> : Fw_Pass<"feature-" # name, "::fw::fuse::OpOp"> {
  let dependentDialects = ["::fw::fuse::FuseDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [
    Option<"dtypes", "dtypes", "std::string", "\"\"", "operand=dtype pairs of the operands that it adds">];
}

def FeatureUnscale : Fw_Feature<"unscale"> {
  let summary = "feature `unscale`: divide the gradients by the loss scale";
  let description = [{
    ```mlir
    %g = fuse.read "g" : f32
    ```
    becomes
    ```mlir
    %g = fuse.read "g" : f32
    %0 = fuse.scalar "all.scale" : f64
    %1 = arith.divf %one, %0 : f64
    %2 = fuse.uniform %1 : f64 to f32
    %3 = arith.mulf %g, %2 {fuse.name = "g"} : f32
    ```
    and the equations use `%3`.
  }];
}

def FeatureClip : Fw_Feature<"clip"> {
  let summary = "feature `clip`: scale the gradients of a plan so that their common norm is at most max_norm";
  let description = [{
    The norm is that of all stored gradients of all tensors and ranks, divided by the loss scale where
    there is one; `all.norm` tells it. The factor is min(1, max_norm/(norm + 1e-6)).
  }];
}

def FeatureClipValue : Fw_Feature<"clip-value"> {
  let summary = "feature `clip_value`: limit the size of each element of the gradients";
  let description = [{
    Behind `unscale` and `clip`; NaN stays NaN.
  }];
}

def FeatureMaster : Fw_Feature<"master"> {
  let summary = "feature `master`: keep each parameter in high precision beside the one of the model";
  let description = [{
    The equations read and write `p.master`; `p` is written with the same new value, rounded to its own
    dtype, and no longer read.
  }];
}

def FeatureCopy : Fw_Feature<"copy"> {
  let summary = "feature `copy`: store every new parameter a second time, in low precision";
  let description = [{
    ```mlir
    fuse.op @sgd over <elements> operands [#fuse.operand<name = "p", role = param, ...>] ... {
      ...
      fuse.write "p", %4 : f32
    }
    ```
    becomes
    ```mlir
    fuse.op @sgd over <elements>
        operands [#fuse.operand<name = "p", role = param, ...>,
                  #fuse.operand<name = "p.copy", role = out, dtype = "bf16", scope = <element>>] ... {
      ...
      fuse.write "p", %4 : f32
      fuse.write "p.copy", %4 : f32
    }
    ```
    The copy is rounded once, from the value in arithmetic precision. A parameter that the op leaves
    alone is copied as it is.
  }];
  let statistics = [Statistic<"numCopies", "copies", "operands added">];
}

def FeatureEma : Fw_Feature<"ema"> {
  let summary = "feature `ema`: keep the exponential moving average of each parameter";
  let description = [{
    `p.ema = decay*p.ema + (1 - decay)*p`, with the new parameter before it is rounded for storage.
  }];
}

def FeatureZeroGrad : Fw_Feature<"zero-grad"> {
  let summary = "feature `zero_grad`: set the gradients to 0 behind their use";
  let description = [{
    `fuse.write "g", 0`; with `guard`, a skipped step leaves them as they are.
  }];
}

def FeatureGuard : Fw_Feature<"guard"> {
  let summary = "feature `guard`: change nothing where a gradient is not finite";
  let description = [{
    One decision for all tensors and ranks, from the gradients as they are stored: the least number of
    a tensor that holds an inf or NaN. `all.skip`, which the caller gives, and a norm that is not finite
    skip too. `all.skipped` tells 1 + the number of that tensor, inf for the norm, -1 for the caller's
    word, and 0 for a step that was applied.
  }];
}

def Fma : Fw_Pass<"fma", "::fw::fuse::OpOp"> {
  let summary = "contract products and sums of an element into fused multiply-adds";
  let description = [{
    The only contraction there is (INTERFACES 8): host compilers and NVRTC have theirs turned off, so
    this pass decides the bits of every backend. A product is a `arith.mulf` whose one use is the sum.

    | before | after |
    | --- | --- |
    | `a*b + c`, `c + a*b` | `fma(a, b, c)` |
    | `a*b - c` | `fma(a, b, -c)` |
    | `c - a*b` | `fma(-a, b, c)` |
    | `a*b + c*d` | `fma(a, b, c*d)` |
    | `a*b - c*d` | `fma(a, b, -(c*d))` |

    Sums are visited in the order of the text; where both sides are products the left one is taken.
    The result has the label and the name of the sum. The scalar program is left alone: it runs once
    per launch, and hosts need not have an fma instruction.
  }];
  let statistics = [Statistic<"numContracted", "contracted", "sums that became an fma">];
}

def RowReciprocals : Fw_Pass<"row-reciprocals", "::fw::fuse::OpOp"> {
  let summary = "divide the elements of a row by a number of the row with one division";
  let description = [{
    In an op over axes `x / z`, where z is the same for all elements of a row, becomes `x * (1 / z)` in f32:
    a division for each element would hold a softmax at 80 % of a copy. The reference computes what is written
    here, so its bounds are those of the two roundings; where 1 / z leaves the format, any number is within them.
    ```mlir
    %0 = arith.divf %e, %z {fuse.label = "E4", fuse.name = "y"} : f32
    ```
    becomes
    ```mlir
    %0 = arith.divf %one, %z {fuse.label = "E4"} : f32
    %1 = arith.mulf %e, %0 {fuse.label = "E4", fuse.name = "y"} : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numReplaced", "replaced", "divisions">];
}

def PairReductions : Fw_Pass<"pair-reductions", "::fw::fuse::OpOp"> {
  let summary = "recognise two reductions of a row that a backend may exchange as one pair";
  let description = [{
    | pair | reductions |
    | --- | --- |
    | `moments` | `sum(x)` and `sum((x - m)^2)`, where m is the average of x |
    | `max_sum_exp` | `t = max(s)` and `sum(exp(s - t))`, also where a select has a constant in its place |

    Equal values must be one value, so it runs behind the CSE of the semantic stage: the bounds of the
    evaluator cover what a backend may make of a pair (docs/rationale/rows-numerics.md). Both get the
    attribute `fuse.pair`, which `form-phases` hands on to their passes. A block of threads
    then waits once for both numbers: each of its threads has the pair of its own columns, and two
    pairs merge into one. A backend that reads a row again at no cost leaves the passes as they are.
    ```mlir
    %t = fuse.reduce max keep <axes, axes = ["row"]> %s {fuse.pair = "max_sum_exp"} : f32 to f32
    %0 = arith.subf %s, %t : f32
    %1 = math.exp %0 : f32
    %z = fuse.reduce sum keep <axes, axes = ["row"]> %1 {fuse.pair = "max_sum_exp"} : f32 to f32
    ```
  }];
  let statistics = [Statistic<"numPairs", "pairs", "pairs that were found">];
}

//===-- Semantic to phase level -------------------------------------------------------------------//

def FormPhases : Fw_Pass<"form-phases", "::mlir::ModuleOp"> {
  let summary = "split an op into the scalar program and kernels of passes over elements";
  let description = [{
    ```mlir
    fuse.op @scale over <elements> operands [...] scalars [...] {
      %0 = fuse.scalar "a" : f64
      %1 = fuse.uniform %0 : f64 to f32
      %2 = fuse.read "x" : f32
      %3 = arith.mulf %1, %2 {fuse.label = "E1", fuse.name = "y"} : f32
      fuse.write "y", %3 : f32
    }
    ```
    becomes, with `x` stored in bf16,
    ```mlir
    fuse.program @scale operands [...] scalars [...] {
      fuse.scalars {
        %0 = fuse.scalar "a" : f64
        fuse.result "a", %0 : f64 to f32
      }
      fuse.kernel @scale_x_bf16_y_f32 elements f32 {
        %0 = fuse.slot "a" : f32
        fuse.each {
          %1 = fuse.load "x" : bf16
          %2 = fuse.cast %1 : bf16 to f32
          %3 = arith.mulf %0, %2 {fuse.label = "E1", fuse.name = "y"} : f32
          fuse.store "y", %3 : f32
        }
      }
    }
    ```
    What a `fuse.uniform` needs forms the scalar program, what a `fuse.write` needs forms the pass;
    values that neither needs vanish. Slots stand in the order of their first use by elements and are
    called like the scalar or the named value they hold, else `u0`, `u1`, ... All loads come first
    and all stores last, both in operand order.

    An op over axes becomes one kernel of the pattern `rows`, whose body is what is computed for a row.
    A reduction of the row ends a pass over its columns, and the passes behind it read the row again
    (whether a backend keeps it in registers instead is a matter of its schedule). What a row has one
    of is computed between the passes; all stores come behind the last load.
    ```mlir
    fuse.kernel @mean_x_f32_y_f32 rows f32 {
      %0 = fuse.slot "u0" : f32
      %1 = fuse.each [sum] -> f32 {
        %3 = fuse.load "x" : f32
        fuse.yield %3 : f32
      }
      %2 = arith.divf %1, %0 : f32
      fuse.each {
        %3 = fuse.load "x" : f32
        %4 = arith.subf %3, %2 : f32
        fuse.store "y", %4 : f32
      }
    }
    ```
    What a printer meets besides:
    - The program's domain has one spanned axis; that of an op without `;` is its last.
    - A load outside of a pass is of what a row has one of, or of an operand with one value per tensor or
      in all (the same for every row: strides 0). What is computed of the latter alone is f64, whatever
      the kernel's precision, between a cast from and a cast to it; slots that meet it are f64, too.
    - `fuse.bits` has the number of the row's first element, made of `fuse.index` of the axes in front and
      slots of sizes; an element's number is that plus its column.
    - `fuse.swap_pairs` becomes `fuse.load_pair` and `fuse.pair_index`, and its value is computed once more of
      these; no operand of such an op lies where a written one does.
    - Ints are i64 and wrap (slots of them travel in an f64 table); those of the launch alone are computed by
      the scalar program, quotients, shifts and bits too.
    - `math.exp` and `math.exp2` with `fastmath<afn>` may be the hardware's.

    A reduction that keeps a tensor, all or the world ends a kernel. A value belongs to the stage
    that has as many of these before it; a stage is a scalar program and a kernel. All kernels but
    the last read and reduce, each computing anew what it needs of elements; the last one stores.
    ```mlir
    fuse.program @l2norm operands [...] scalars [] {
      fuse.scalars {
      }
      fuse.kernel @l2norm_reduce0_x_f32_norm_f32 elements f32 {
        %0 = fuse.each [#fuse<reduce_kind sum>] -> f32 {
          %1 = fuse.load "x" : f32
          %2 = arith.mulf %1, %1 : f32
          fuse.yield %2 : f32
        }
        fuse.reduction "r0" keep <all> %0 : f32
      }
      fuse.scalars {
        %0 = fuse.reduced "r0" : f64
        %1 = math.sqrt %0 : f64
        fuse.write "norm", %1 : f64
      }
    }
    ```
  }];
  let dependentDialects = ["::fw::fuse::FuseDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numSlots", "slots", "results of the scalar program">,
    Statistic<"numLoads", "loads", "streams read">,
    Statistic<"numStores", "stores", "streams written">,
    Statistic<"numReductions", "reductions", "of kernels">];
}

//===-- Phase level -------------------------------------------------------------------------------//

def Schedule : Fw_Pass<"schedule", "::fw::fuse::ProgramOp"> {
  let summary = "decide how a kernel runs on an arch, and name it";
  let description = [{
    ```mlir
    fuse.kernel @scale_x_bf16_y_f32 elements f32 { ... }
    ```
    becomes
    ```mlir
    fuse.kernel @fw_scale_x_bf16_y_f32_v4 elements f32
        schedule <"chunk", {chunk = 8192 : i64, inflight = 2 : i64, threads = 512 : i64, vec = 4 : i64}> { ... }
    ```
    The decisions come from the rule of the kernel's pattern (`rules/Elements.h`, `rules/Rows.h`);
    `overrides` fixes some of them and the rule derives the rest. A kernel over rows keeps the `facts`
    that its schedule goes by. The symbol is final: it is the kernel's name in profilers.
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"\"", "a name of archs.def, whose limits the rule follows">,
    Option<"overrides", "overrides", "std::string", "\"\"", "decision=number pairs, separated by commas">,
    Option<"facts", "facts", "std::string", "\"\"", "what is known of the tensors of an op over rows, in the same form">];
  let statistics = [Statistic<"numScheduled", "scheduled", "kernels">];
}

#endif
