#!/usr/bin/env python3
"""rows_skeleton.py FOLDER OUT [--elements N]: the sample ops of pattern `rows` on this machine's GPU, torch's beside them.

FOLDER holds what `write_rows FOLDER ARCH FILE --cubins` wrote. Every kernel is checked against torch in
f64 on the first and last rows, its output, poisoned before, for numbers everywhere, and timed as
PERFORMANCE 0 says: a flush between launches, median of 21, beside a copy of the same bytes on the device. torch's
functions run eagerly on the same tensors (rms_norm_backward, of which torch has none for the input alone, and centred: by
torch.compile). OUT gets rows.json and the table rows.txt. Needs torch and the driver.
"""
import argparse
import ctypes
import json
import math
import struct
import sys
import time
from pathlib import Path

import torch

from timing import FLUSH, Clock

CHECKED = 48
EVICT_LAST = 0x14F0000000000000
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
# Operands in order: x (an input per element), w (per column), s (per row), y (an output per element), r (per row).
OPERANDS = {"rms_norm": "xwyr", "layer_norm": "xwwyrr", "softmax": "xy", "softmax_backward": "xxy",
            "rms_norm_backward": "xxwsy", "centred": "xy"}
EPS, SCALE = 1e-5, 0.75


def goal(op, columns, causal):
    """Percent of a copy that PERFORMANCE asks for at 2^27 elements: its row, the least, the aim; None: it names none."""
    if op in ("rms_norm_backward", "centred"):
        return None
    is_norm, is_layer, is_odd = op.endswith("norm"), op == "layer_norm", columns % 8 != 0
    if causal:
        return "P18", 85, 94
    if is_norm and (is_odd or columns == 1000):
        return ("P14", 65, 85) if is_layer else ("P14", 82, 90)
    if is_norm and columns > 32768:
        return ("P10", 91, 96) if is_layer else ("P10", 96, 99)
    if is_norm:
        return ("P9", 96, 99.5) if is_layer else ("P9", 97, 100)
    if is_odd:
        return "P19", 86, 93
    if columns > 16384:
        return ("P19", 97, 102) if op == "softmax_backward" else ("P19", 93, 99)
    return ("P17", 101, 104) if op == "softmax_backward" else ("P17", 98, 101)


cuda = ctypes.CDLL("libcuda.so.1")


def call(function, *arguments):
    status = getattr(cuda, function)(*arguments)
    if status:
        sys.exit(f"rows_skeleton: error: expected {function} to succeed, got CUDA error {status}")


class Kernel:
    """A cubin and its parameter (templates/vocab/rows_launch.h)."""

    def __init__(self, folder, about):
        self.about = about
        image = (folder / (about["name"] + ".cubin")).read_bytes()
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(self.module), image)
        call("cuModuleGetFunction", ctypes.byref(self.function), self.module, about["symbol"].encode())
        if about["shared_bytes"] > 48 * 1024:  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call("cuFuncSetAttribute", self.function, 8, about["shared_bytes"])

    def unload(self):
        call("cuModuleUnload", self.module)

    def bind(self, addresses, strides, rows, scalar):
        operands = len(addresses)
        record_bytes = 16 * operands + 24
        room = min(8, (4096 - 32) // record_bytes)
        head = struct.pack("<QQIIII", 0, EVICT_LAST, self.about["columns"], 1, 0, 0)
        record = struct.pack(f"<{operands}Q{operands}QQIIIxxxx", *addresses, *strides, rows, rows, 0, 0)
        numbers = struct.pack("<16f", *[scalar] * 16)
        self.parameter = ctypes.create_string_buffer(head + record + bytes(record_bytes * (room - 1)) + numbers)
        self.arguments = (ctypes.c_void_p * 1)(ctypes.addressof(self.parameter))
        self.grid = -(-rows // self.about["rows_per_block"])
        if self.about.get("ring"):  # as many blocks as are resident, each for several rows
            resident = ctypes.c_int()
            call("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(resident), self.function, self.about["threads"],
                 ctypes.c_size_t(self.about["shared_bytes"]))
            processors = torch.cuda.get_device_properties(0).multi_processor_count
            self.grid = min(self.grid, resident.value * processors)

    def __call__(self):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        call("cuLaunchKernel", self.function, self.grid, 1, 1, self.about["threads"], 1, 1, self.about["shared_bytes"],
             stream, self.arguments, None)


def centred(x):
    about = x - x.mean(1, keepdim=True)
    return SCALE * about / about.abs().amax(1, keepdim=True)


def rms_norm_backward(x, dy, w, rstd):
    rstd, scaled = rstd[:, None], w * dy
    return SCALE * rstd * (scaled - x * rstd * rstd * (scaled * x).mean(1, keepdim=True))


class Data:
    """The tensors of one op at one width."""

    def __init__(self, op, columns, elements, causal):
        self.op, self.columns, self.rows, self.causal = op, columns, elements // columns, causal
        generator = torch.Generator(device="cuda").manual_seed(columns)
        self.tensors, self.kinds = [], OPERANDS[op]
        for kind in self.kinds:
            shape = {"x": (self.rows, columns), "y": (self.rows, columns), "w": (columns,)}.get(kind, (self.rows,))
            dtype = torch.float32 if kind in "rs" else torch.bfloat16
            made = torch.empty(shape, device="cuda", dtype=dtype)
            if kind in "xw":
                made.normal_(generator=generator)
            self.tensors.append(made)
        if op == "softmax_backward":
            self.tensors[0].copy_(torch.softmax(self.tensors[0], dim=1))
        if op == "rms_norm_backward":
            self.tensors[3].copy_((self.tensors[0].float().square().mean(1) + EPS).rsqrt())
        self.strides = [columns * 2 if kind in "xy" else 4 if kind in "rs" else 0 for kind in self.kinds]
        self.scalar = EPS if op in ("rms_norm", "layer_norm") else SCALE
        # What must move: behind the diagonal nothing is read.
        streams = sum(2 for kind in self.kinds if kind in "xy")
        self.moved = self.rows * columns * streams
        if causal:
            self.moved -= self.rows * (columns - 1)

    def outputs(self):
        return [tensor for kind, tensor in zip(self.kinds, self.tensors) if kind in "yr"]

    def expected(self, part):
        inputs = [tensor[part].double() if kind == "x" else tensor.double()
                  for kind, tensor in zip(self.kinds, self.tensors) if kind in "xws"]
        if self.op == "centred":
            return [centred(inputs[0])]
        if self.op == "rms_norm_backward":
            x, dy, w, rstd = inputs
            return [rms_norm_backward(x, dy, w, rstd[part])]
        if self.op == "rms_norm":
            x, w = inputs
            rstd = (x.square().mean(1) + EPS).rsqrt()
            return [x * rstd[:, None] * w, rstd]
        if self.op == "layer_norm":
            x, w, b = inputs
            mean = x.mean(1)
            about = x - mean[:, None]
            rstd = (about.square().mean(1) + EPS).rsqrt()
            return [about * rstd[:, None] * w + b, mean, rstd]
        if self.op == "softmax":
            scaled = inputs[0] * SCALE
            if self.causal:
                row = torch.arange(self.rows, device="cuda")[part] % self.columns
                column = torch.arange(self.columns, device="cuda")
                scaled = scaled.masked_fill(column[None, :] > row[:, None], -math.inf)
            return [torch.softmax(scaled, dim=1)]
        y, dy = inputs
        return [SCALE * y * (dy - (y * dy).sum(1, keepdim=True))]

    def peer(self):
        """The same work by torch, of what it has: softmax without the scale, norms without what is saved."""
        functional, columns = torch.nn.functional, (self.columns,)
        inputs = [tensor for kind, tensor in zip(self.kinds, self.tensors) if kind in "xws"]
        calls = {
            "rms_norm": lambda: functional.rms_norm(inputs[0], columns, inputs[1], EPS),
            "layer_norm": lambda: functional.layer_norm(inputs[0], columns, inputs[1], inputs[2], EPS),
            "softmax": lambda: torch.softmax(inputs[0], dim=1),
            "softmax_backward": lambda: torch._softmax_backward_data(inputs[1], inputs[0], 1, torch.bfloat16),
        }
        if self.causal:
            return None
        if self.op in calls:
            return calls[self.op]
        torch.compiler.reset()  # each width is compiled by itself
        written = {"centred": centred, "rms_norm_backward": rms_norm_backward}[self.op]
        compiled = torch.compile(lambda *given: written(*(t.float() for t in given)).to(torch.bfloat16), dynamic=False)
        compiled(*inputs)
        return lambda: compiled(*inputs)

    def poison(self):
        for tensor in self.outputs():
            tensor.fill_(math.nan)

    def error(self):
        """The largest error of a bf16 output in halves of its ulp; infinite where a number is missing."""
        worst = 0.0
        for part in (slice(0, CHECKED), slice(max(0, self.rows - CHECKED), self.rows)):
            for got, want in zip(self.outputs(), self.expected(part)):
                got = got[part]
                if got.dtype == torch.bfloat16:
                    half = torch.exp2(torch.floor(torch.log2(want.abs().clamp_min(1e-30))) - 8).clamp_min(2.0 ** -40)
                    # Products of rounded sums that cancel: an absolute part too.
                    half = half + 2e-6 * want.abs().amax(1, keepdim=True)
                else:
                    half = (want.abs() * 1e-5).clamp_min(1e-6)
                worst = max(worst, ((got.double() - want).abs() / half).max().item())
        if any(tensor.isnan().any().item() for tensor in self.outputs()):
            return math.inf
        return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--elements", type=int, default=27, help="of a tensor, as a power of two")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop starting kernels after so long")
    options = parser.parse_args()
    started = time.monotonic()
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    elements = 1 << options.elements
    clock = Clock(max(3 * elements, FLUSH), wait=400_000)
    rows, data, key = [], None, None
    kernels = json.loads((options.folder / "manifest.json").read_text())
    kernels.sort(key=lambda about: (about["op"], about["columns"], about["causal"], about["fixed"]))
    skipped = 0
    for about in kernels:
        if time.monotonic() - started > options.seconds or about["spills"] > 400:
            skipped += 1
            continue
        if key != (about["op"], about["columns"], about["causal"]):
            key, data = (about["op"], about["columns"], about["causal"]), None
            torch.cuda.empty_cache() if options.elements > 27 else None
            data = Data(about["op"], about["columns"], elements, about["causal"])
            peer = data.peer()
            torch_us = clock.time(peer) if peer else None
        kernel = Kernel(options.folder, about)
        kernel.bind([tensor.data_ptr() for tensor in data.tensors], data.strides, data.rows, data.scalar)
        data.poison()
        kernel()
        torch.cuda.synchronize()
        error = data.error()
        us = clock.time(kernel)
        kernel.unload()
        percent = 100 * data.moved / clock.copy_rate(data.moved)
        rows.append({**about, "us": us, "percent_of_copy": percent / us, "error": error, "elements": elements,
                     "gbps": data.moved / us / 1000, "torch_us": torch_us,
                     "torch_percent_of_copy": torch_us and percent / torch_us})
    report(rows, clock, options.out, skipped)
    return 1 if any(not row["error"] < 1.3 for row in rows) else 0


def report(rows, clock, out, skipped):
    lines = [f"{torch.cuda.get_device_name()}; copies GB/s: " +
             ", ".join(f"{half >> 20} MiB {rate / 1000:.0f}" for half, rate in sorted(clock.rates.items())) +
             f"; {skipped} kernels not run"]
    groups = {}
    for row in rows:
        groups.setdefault((row["op"], row["columns"], row["causal"]), []).append(row)
    for (op, columns, causal), group in groups.items():
        ranked = sorted((row for row in group if row["fixed"]), key=lambda row: row["us"])
        asked, peer = goal(op, columns, causal), group[0]["torch_percent_of_copy"]
        lines.append(f"\n{op}{' causal' if causal else ''} {columns}: " +
                     ("{} asks for {} %, aims at {} %".format(*asked) if asked else "no goal") +
                     (f"; torch {peer:.1f} %" if peer else ""))
        for row in [row for row in group if not row["fixed"]] + ranked[:8]:
            label = ("rule" if not row["fixed"] else "") + (" exact" if op == "softmax" and not row["fast"] else "")
            lines.append(f"  {row['percent_of_copy']:6.1f} %  {row['us']:7.1f} us  {row['registers']:3d} regs {row['spills']:3d} B"
                         f"  err {row['error']:.2f}  {row['schedule']:40s} {label}")
    out.mkdir(parents=True, exist_ok=True)
    (out / "rows.txt").write_text("\n".join(lines) + "\n")
    (out / "rows.json").write_text(json.dumps(rows, indent=0))
    print("\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
