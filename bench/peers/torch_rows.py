#!/usr/bin/env python3
"""Norms and softmaxes of this library beside torch's, in one process.

usage: torch_rows.py LIBFUSEWRIGHT [--elements 27] [--only P9,P17] [--compile] [--seconds N] [--json OUT]

Each case is a one-shot launch through the C API on tensors of torch. It is checked against torch's own numbers in f64 on
its first and last rows, all of its outputs, poisoned before, for numbers everywhere, then timed by the method of
PERFORMANCE 0: a flush between launches, median of 21, beside a copy of the bytes that must move. torch runs eagerly, with
--compile also through torch.compile. Exit status 1 where a number is off, 77 without torch or a GPU.
"""
import argparse
import ctypes
import json
import math
import sys
import time
from pathlib import Path

import capi

try:
    import torch
    from torch.nn import functional
except Exception as error:  # no module, or one that does not load
    print(f"skipped: needs torch: {type(error).__name__}: {error}")
    sys.exit(77)

from timing import FLUSH, Clock  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "bool": torch.bool,
          "e4m3fn": torch.float8_e4m3fn, "e4m3fn.sat": torch.float8_e4m3fn}
BF16_NORM = {"in": "bf16", "out": "bf16", "column": "bf16"}
CHECKED = 24
NORM_WIDTHS = (256, 1024, 4096, 8192, 16384, 32768)
SOFTMAX_WIDTHS = (64, 256, 1024, 4096, 16384)
ODD = (1000, 4097, 50257)


def attention_shape(elements, n, queries=None):
    """[batch, head, query, key] with 16 heads."""
    queries = queries or n
    batch = max(1, elements // (16 * queries * n))
    return batch, min(16, max(1, elements // (queries * n))), queries, n


class Case:
    def __init__(self, ids, op, width, dtypes, floors, shape=None, options=None, forms=None, moved=None):
        self.id, self.op, self.width, self.dtypes, self.options = ids, op, width, dtypes, options or {}
        self.floor, self.goal = floors
        self.shape, self.forms, self.moved = shape, forms or {}, moved

    def describe(self, elements):
        options = "".join(f" {key}={value}" for key, value in self.options.items())
        dtypes = " ".join(f"{key}={value}" for key, value in self.dtypes.items())
        return f"{self.op}{options} {dtypes}, N = {self.width}, 2^{elements}"


def cases(elements):
    out = []
    for n in NORM_WIDTHS:
        out.append(Case("P9", "rms_norm", n, BF16_NORM, (97, 100)))
        out.append(Case("P9", "layer_norm", n, BF16_NORM, (96, 99.5)))
    out.append(Case("P10", "rms_norm", 65536, BF16_NORM, (96, 99)))
    out.append(Case("P10", "layer_norm", 65536, BF16_NORM, (91, 96)))
    for n in ODD:
        out.append(Case("P14", "rms_norm", n, BF16_NORM, (82, 90)))
        out.append(Case("P14", "layer_norm", n, BF16_NORM, (65, 85)))
    for n in NORM_WIDTHS:
        for op in ("add_rms_norm", "add_layer_norm"):
            out.append(Case("P15", op, n, {**BF16_NORM, "r2": "bf16"}, (99, 102)))
    for n in SOFTMAX_WIDTHS + (32768, 65536) + ODD:
        ids, forward, backward = ("P17", (98, 101), (101, 104)) if n in SOFTMAX_WIDTHS else \
            ("P19", (86, 93), (86, 93)) if n in ODD else ("P19", (93, 99), (97, 102))
        out.append(Case(ids, "softmax", n, {"in": "bf16"}, forward))
        out.append(Case(ids, "softmax_backward", n, {"in": "bf16"}, backward))
    for n in (512, 1024, 4096):
        # A mask of bytes, the same for all heads: it is found in the second cache by most of them.
        out.append(Case("P17", "masked_softmax", n, {"x": "bf16", "y": "bf16"}, (95, 99), attention_shape(1 << elements, n)))
        out.append(Case("P18", "causal_softmax", n, {"x": "bf16", "y": "bf16"}, (85, 94), attention_shape(1 << elements, n)))
    for n in NORM_WIDTHS:
        out.append(Case("P23", "rms_norm_quantized", n, {"x": "bf16", "y": "e4m3fn.sat", "w": "bf16"}, (88, 93),
                        options={"scale_given": "true"}))
        out.append(Case("-", "rms_norm_backward", n, {"in": "bf16", "column": "bf16"}, (0, 0)))
        out.append(Case("-", "layer_norm_backward", n, {"in": "bf16", "column": "bf16"}, (0, 0)))
    return out


class Launch:
    """A case bound to tensors: a program without facts, so that the library finds the kernel of the width by itself."""

    def __init__(self, library, case, elements):
        self.library, self.case = library, case
        self.program = capi.Program(library, {"op": case.op, "dtypes": case.dtypes, "options": case.options}, "cuda:0")
        total = 1 << elements
        self.shape = case.shape or (total // case.width, case.width)
        self.tensors, self.written = {}, {}
        for operand in self.program.operands:
            self.tensors[operand.name] = self.make(operand)
        self.array = (capi.Tensor * len(self.tensors))(*[self.describe(o) for o in self.program.operands])
        self.kept = []

    def sizes(self, operand):
        axes = dict(zip(("batch", "head", "query", "key"), self.shape)) if len(self.shape) == 4 else \
            {"row": self.shape[0], "column": self.shape[1]}
        if operand.scope == "element":
            return tuple(self.shape)
        if operand.scope in ("tensor", "all"):
            return (1,)
        return tuple(1 if axis == "1" else axes[axis] for axis in operand.scope.strip("[]").replace(" ", "").split(","))

    def make(self, operand):
        sizes, dtype = self.sizes(operand), DTYPES[operand.dtype]
        if dtype == torch.bool:
            return torch.rand(sizes, device="cuda") < 0.8
        made = torch.randn(sizes, device="cuda", dtype=torch.float32 if dtype == torch.float8_e4m3fn else dtype)
        if operand.name in ("rstd", "scale"):
            made = made.abs() + 0.5
        return made.to(dtype)

    def describe(self, operand):
        tensor = self.tensors[operand.name]
        shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
        self.__dict__.setdefault("shapes", []).append(shape)
        return capi.Tensor(struct_size=ctypes.sizeof(capi.Tensor), device=capi.CUDA, rank=tensor.dim(),
                           dtype=operand.dtype.encode(), data=tensor.data_ptr(), shape=shape)

    def __call__(self):
        stream = torch.cuda.current_stream().cuda_stream
        self.library.check(self.library.c.fw_launch(self.library.context, self.program.program, self.array,
                                                    ctypes.c_size_t(len(self.array)), None, ctypes.c_size_t(0),
                                                    ctypes.c_void_p(stream)))

    def of_role(self, *roles):
        return [self.tensors[o.name] for o in self.program.operands if o.role in roles]

    def moved(self):
        """Bytes that must move: each operand with elements once; behind the diagonal nothing is read."""
        moved = sum(self.tensors[o.name].numel() * self.tensors[o.name].element_size()
                    for o in self.program.operands if o.role not in ("column", "row", "save"))
        if self.case.op == "causal_softmax":
            x = self.tensors["x"]
            moved -= x.numel() // self.case.width * (self.case.width - 1) // 2 * x.element_size()
        return moved

    def prepare(self):
        if self.case.op == "softmax_backward":
            self.tensors["y"].copy_(torch.softmax(self.tensors["y"].float(), -1))

    def expected(self, part):
        """Outputs of some rows (of the first axis) in f64."""
        op, t = self.case.op, {}
        for operand in self.program.operands:
            tensor = self.tensors[operand.name]
            cut = tensor[part] if operand.role != "column" and operand.scope not in ("tensor", "all") else tensor
            t[operand.name] = cut.double() if tensor.dtype != torch.bool else cut
        eps = 1e-5
        if op in ("add_rms_norm", "add_layer_norm"):
            t["x"] = (t["x"] + t["r"]).to(self.tensors["r2"].dtype).double()
        if op in ("rms_norm", "add_rms_norm", "rms_norm_quantized"):
            y = t["x"] * (t["x"].square().mean(-1, keepdim=True) + eps).rsqrt() * t["w"]
            return {"y": y / t["scale"] if "scale" in t else y}
        if op in ("layer_norm", "add_layer_norm"):
            about = t["x"] - t["x"].mean(-1, keepdim=True)
            return {"y": about * (about.square().mean(-1, keepdim=True) + eps).rsqrt() * t["w"] + t["b"]}
        if op == "rms_norm_backward":
            h, g = t["x"] * t["rstd"][:, None], t["dy"] * t["w"]
            return {"dx": t["rstd"][:, None] * (g - h * (g * h).mean(-1, keepdim=True))}
        if op == "layer_norm_backward":
            h, g = (t["x"] - t["mean"][:, None]) * t["rstd"][:, None], t["dy"] * t["w"]
            return {"dx": t["rstd"][:, None] * (g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True))}
        if op == "softmax_backward":
            return {"dx": t["y"] * (t["dy"] - (t["y"] * t["dy"]).sum(-1, keepdim=True))}
        x = t["x"]
        if op == "masked_softmax":
            x = x.masked_fill(~t["keep"], -math.inf)
        if op == "causal_softmax":
            n = self.case.width
            x = x.masked_fill(torch.ones(n, n, dtype=torch.bool, device="cuda").triu(1), -math.inf)
        return {"y": torch.softmax(x, -1)}

    def error(self):
        """The largest error of an output in units of half an ulp of its dtype, infinite where a number is missing."""
        worst, parts = 0.0, [slice(0, CHECKED), slice(max(0, self.shape[0] - CHECKED), self.shape[0])]
        for part in parts if len(self.shape) == 2 else [slice(0, 1)]:
            for name, want in self.expected(part).items():
                got = self.tensors[name][part]
                digits = {torch.bfloat16: 8, torch.float8_e4m3fn: 4, torch.float32: 22, torch.float16: 11}[got.dtype]
                half = torch.exp2(torch.floor(torch.log2(want.abs().clamp_min(1e-30))) - digits).clamp_min(
                    2.0 ** -10 if got.dtype == torch.float8_e4m3fn else 2.0 ** -40)
                half = half + 4e-6 * want.abs().amax(-1, keepdim=True)
                worst = max(worst, ((got.double() - want.clamp(-448, 448) if got.dtype == torch.float8_e4m3fn else got.double() - want)
                                    .abs() / half).max().item())
        missing = any(self.tensors[name].float().isnan().any().item() for name in self.expected(slice(0, 1)))
        return math.inf if missing else worst

    def poison(self):
        for name in self.expected(slice(0, 1)):
            self.tensors[name].copy_(torch.full((), math.nan, device="cuda").expand_as(self.tensors[name]))

    def peer(self):
        """The same work by torch, as its users write it; None where it has none."""
        op, t, n = self.case.op, self.tensors, (self.case.width,)
        calls = {
            "rms_norm": lambda: functional.rms_norm(t["x"], n, t["w"], 1e-5),
            "layer_norm": lambda: functional.layer_norm(t["x"], n, t["w"], t["b"], 1e-5),
            "add_rms_norm": lambda: functional.rms_norm(t["r"].add(t["x"]), n, t["w"], 1e-5),
            "add_layer_norm": lambda: functional.layer_norm(t["r"].add(t["x"]), n, t["w"], t["b"], 1e-5),
            "softmax": lambda: torch.softmax(t["x"], -1),
            "softmax_backward": lambda: torch._softmax_backward_data(t["dy"], t["y"], -1, torch.bfloat16),
            "masked_softmax": lambda: torch.softmax(t["x"].masked_fill(~t["keep"], -math.inf), -1),
            "causal_softmax": lambda: torch.softmax(t["x"] + t["bias"], -1),
        }
        if op == "causal_softmax":
            size = self.case.width
            t.setdefault("bias", torch.full((size, size), -math.inf, device="cuda", dtype=torch.bfloat16).triu(1))
        return calls.get(op)


def compiled_peer(launch):
    """torch.compile of the same, a width at a time."""
    op, t, n = launch.case.op, launch.tensors, (launch.case.width,)
    written = {
        "rms_norm": (lambda x, w: functional.rms_norm(x, n, w, 1e-5), ("x", "w")),
        "layer_norm": (lambda x, w, b: functional.layer_norm(x, n, w, b, 1e-5), ("x", "w", "b")),
        "add_rms_norm": (lambda x, r, w: (lambda s: (functional.rms_norm(s, n, w, 1e-5), s))(x + r), ("x", "r", "w")),
        "add_layer_norm": (lambda x, r, w, b: (lambda s: (functional.layer_norm(s, n, w, b, 1e-5), s))(x + r), ("x", "r", "w", "b")),
        "softmax": (lambda x: torch.softmax(x, -1), ("x",)),
        "softmax_backward": (lambda y, dy: (y.float() * (dy.float() - (y.float() * dy.float()).sum(-1, keepdim=True))).to(y.dtype),
                             ("y", "dy")),
        "masked_softmax": (lambda x, keep: torch.softmax(x.masked_fill(~keep, -math.inf), -1), ("x", "keep")),
        "rms_norm_backward": (lambda x, dy, w, rstd: rms_backward(x, dy, w, rstd), ("x", "dy", "w", "rstd")),
        "layer_norm_backward": (lambda x, dy, w, m, rstd: layer_backward(x, dy, w, m, rstd), ("x", "dy", "w", "mean", "rstd")),
    }
    if op not in written:
        return None
    torch.compiler.reset()
    function, names = written[op]
    compiled = torch.compile(function, dynamic=False)
    arguments = [t[name] for name in names]
    compiled(*arguments)
    return lambda: compiled(*arguments)


def rms_backward(x, dy, w, rstd):
    h, g = x.float() * rstd[:, None], dy.float() * w.float()
    return (rstd[:, None] * (g - h * (g * h).mean(-1, keepdim=True))).to(x.dtype)


def layer_backward(x, dy, w, mean, rstd):
    h, g = (x.float() - mean[:, None]) * rstd[:, None], dy.float() * w.float()
    return (rstd[:, None] * (g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True))).to(x.dtype)


def measure(library, case, elements, clock, with_compile):
    launch = Launch(library, case, elements)
    launch.prepare()
    launch.poison()
    launch()
    torch.cuda.synchronize()
    error, moved = launch.error(), launch.moved()
    percent = 100 * moved / clock.copy_rate(moved)
    us = clock.time(launch)
    row = {"id": case.id, "case": case.describe(elements), "floor": case.floor, "goal": case.goal, "us": us,
           "percent_of_copy": percent / us, "bytes": moved, "gbps": moved / us / 1000, "error": error, "peers": {}}
    for name, make in (("torch", lambda: launch.peer()), ("torch.compile", lambda: compiled_peer(launch))):
        if name == "torch.compile" and not with_compile:
            continue
        try:
            peer = make()
            if peer:
                peer()
                peer_us = clock.time(peer)
                row["peers"][name] = {"us": peer_us, "percent_of_copy": percent / peer_us}
        except Exception as fault:  # a peer that cannot run is told, and is no fault of ours
            print(f"  {name}: {type(fault).__name__}: {str(fault).splitlines()[0][:120]}")
    return row


def text(row):
    mark = "below" if row["percent_of_copy"] < row["floor"] else "" if row["percent_of_copy"] < row["goal"] else "goal"
    peers = "  ".join(f"{name} {peer['percent_of_copy']:.0f}" for name, peer in row["peers"].items())
    return (f"{row['id']:4s} {row['case'][:86]:86s} {row['us']:8.1f} us {row['percent_of_copy']:6.1f} %  ({row['floor']}/{row['goal']}) "
            f"{mark:5s} err {row['error']:.2f}  {peers}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--elements", type=int, default=27, help="of a tensor, as a power of two")
    parser.add_argument("--only", help="ids, separated by commas")
    parser.add_argument("--ops", help="ops, separated by commas")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop starting cases after so long")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("skipped: no CUDA device")
        return 77
    started, rows = time.monotonic(), []
    torch.zeros(1, device="cuda")
    library = capi.Library(options.library)
    clock = Clock(max(4 << options.elements, FLUSH), wait=400_000)
    chosen = [case for case in cases(options.elements)
              if (not options.only or case.id in options.only.split(",")) and (not options.ops or case.op in options.ops.split(","))]
    for number, case in enumerate(chosen):
        if time.monotonic() - started > options.seconds:
            print(f"{len(chosen) - number} cases were not run: the time was over")
            break
        rows.append(measure(library, case, options.elements, clock, options.compile))
        print(text(rows[-1]), flush=True)
        torch.cuda.empty_cache()
    if options.json:
        versions = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
        options.json.write_text(json.dumps({"versions": versions, "rows": rows}, indent=1))
    off = [row["case"] for row in rows if not row["error"] < 1.4]
    print("\n".join(f"off: {case}" for case in off) if off else "all numbers are right")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
