#!/usr/bin/env python3
"""Host time of an AdamW step from Python over many small parameters: this package beside torch, in one process.

usage: PYTHONPATH=... torch_host_times.py [--device auto|cuda|cpu] [--parameters 1000] [--batches 15] [--steps 10] [--json OUT]

Parameters are 8 x 64, f32. What is timed is the call alone, from an idle device and without waiting for it:

  new gradients    zero_grad(set_to_none=True) and a backward before each step: gradients are other tensors each time
  same gradients   neither: the step finds what it found the last time
  arena            gradients are views of one buffer, zeroed and added to by a backward
  arena, one op    the same, added to by one foreach call
  CUDA graph       replay of a step that was captured
  loss scale       scaler.step(optimizer) and scaler.update(), new gradients
  loss scale, same the same, gradients as for "same gradients"

A backward over so many small tensors leaves little of what a step reads in the caches; the rows without one show the
step's own work.

All rows take turns batch by batch, each batch behind a step that is not counted. us: the mean of a batch's steps; best and
median of the batches. On the CPU the call does the arithmetic too.
"""
import argparse
import json
import statistics
import sys
import time
from datetime import date
from pathlib import Path

try:
    import torch

    import fusewright
    from fusewright import amp, optim
except ImportError as error:
    print(f"skipped: needs torch and the package fusewright: {error}")
    sys.exit(77)

SHAPE = (8, 64)


class Case:
    """Parameters of its own, an optimizer and a call that is timed."""

    arena = remake = False

    def __init__(self, make, options):
        self.device = options.device
        self.parameters = [torch.randn(SHAPE, device=self.device).requires_grad_() for _ in range(options.parameters)]
        self.sources = [torch.randn(SHAPE, device=self.device) for _ in self.parameters]
        self.optimizer = make(self.parameters)
        self.backward()
        self.set_up()

    def backward(self):
        """Gradients as a model's backward leaves them: made by autograd, unseen by Python."""
        torch.autograd.backward(torch._foreach_mul(self.parameters, 2.0), self.sources)

    def set_up(self):
        self.call = self.optimizer.step

    def prepare(self):
        if self.remake:
            self.optimizer.zero_grad()
            self.backward()

    def step(self):
        """Seconds of one call."""
        self.prepare()
        if self.device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        self.call()
        return time.perf_counter() - start


class NewGradients(Case):
    name, remake = "new gradients", True


class SameGradients(Case):
    name = "same gradients"


class Arena(Case):
    name, remake = "arena", True

    def set_up(self):
        self.optimizer.use_arena()
        super().set_up()


class ArenaOneOp(Arena):
    name = "arena, one op"

    def set_up(self):
        super().set_up()
        self.optimizer.step()  # gradients have their places
        self.gradients = [parameter.grad for parameter in self.parameters]

    def prepare(self):
        self.optimizer.zero_grad()
        torch._foreach_add_(self.gradients, self.sources)


class CudaGraph(Case):
    name = "CUDA graph"

    def set_up(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.optimizer.step()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.optimizer.step()
        self.call = self.graph.replay


class LossScale(Case):
    name, remake = "loss scale", True

    def set_up(self):
        ours = isinstance(self.optimizer, optim.AdamW)
        self.scaler = (amp if ours else torch.amp).GradScaler(self.device)
        self.scaler.scale(torch.ones((), device=self.device))  # torch makes its scale here
        self.call = self.scaled_step

    def scaled_step(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()


class LossScaleSame(LossScale):
    name, remake = "loss scale, same", False


def fused(parameters):
    return torch.optim.AdamW(parameters, fused=True)


def foreach(parameters):
    return torch.optim.AdamW(parameters, foreach=True)


def capturable(parameters):
    return torch.optim.AdamW(parameters, fused=True, capturable=True)


OURS, FUSED, FOREACH = "fusewright", "torch fused", "torch foreach"
CASES = [
    (NewGradients, {OURS: optim.AdamW, FUSED: fused, FOREACH: foreach}),
    (SameGradients, {OURS: optim.AdamW, FUSED: fused, FOREACH: foreach}),
    (Arena, {OURS: optim.AdamW}),
    (ArenaOneOp, {OURS: optim.AdamW}),
    (CudaGraph, {OURS: optim.AdamW, FUSED: capturable}),
    (LossScale, {OURS: optim.AdamW, FUSED: fused}),
    (LossScaleSame, {OURS: optim.AdamW, FUSED: fused}),
]


def measure(options):
    cases = {}
    for kind, makers in CASES:
        if kind is CudaGraph and options.device != "cuda":
            continue
        for who, make in makers.items():
            cases[kind.name, who] = kind(make, options)
    times = {key: [] for key in cases}
    for case in cases.values():
        for _ in range(3):
            case.step()
    for _ in range(options.batches):
        for key, case in cases.items():
            case.step()  # what the row before has left in the caches is no matter of this one
            times[key].append(1e6 * statistics.fmean(case.step() for _ in range(options.steps)))
    return [{"case": name, "who": who, "best_us": min(batches), "us": statistics.median(batches),
             "us_per_parameter": statistics.median(batches) / options.parameters} for (name, who), batches in times.items()]


def print_table(rows, options):
    print(f"AdamW, {options.parameters} parameters of {SHAPE[0]} x {SHAPE[1]}, f32, {options.device}; us of a step on the host")
    print(f"{'case':16} {'':14} {'best':>9} {'median':>9} {'a parameter':>12} {'of ours':>8}")
    ours = {row["case"]: row["us"] for row in rows if row["who"] == OURS}
    for row in rows:
        print(f"{row['case']:16} {row['who']:14} {row['best_us']:9.1f} {row['us']:9.1f} {row['us_per_parameter']:12.3f}"
              f" {row['us'] / ours[row['case']]:7.1f}x")


def versions(device):
    found = {"torch": torch.__version__, "python": sys.version.split()[0], "fusewright": fusewright.__version__}
    return {"gpu": torch.cuda.get_device_name(), "cuda": torch.version.cuda, **found} if device == "cuda" else found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument("--parameters", type=int, default=1000)
    parser.add_argument("--batches", type=int, default=15)
    parser.add_argument("--steps", type=int, default=10, help="of a batch")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.device == "auto":
        options.device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = measure(options)
    if options.json:
        method = f"bench/peers/torch_host_times.py: {options.batches} batches of {options.steps} steps, rows in turn, us: median of batches"
        options.json.write_text(json.dumps({"date": str(date.today()), "method": method, "versions": versions(options.device),
                                            "rows": [], "host_times": rows}, indent=1) + "\n")
    print_table(rows, options)


if __name__ == "__main__":
    main()
