#!/usr/bin/env python3
"""AdamW of this package, called from Python, beside torch's, over the parameters of whole models, in one process.

usage: PYTHONPATH=... torch_optimizer.py [--device auto|cuda|cpu] [--lists llama-1.1b,resnet-50] [--tensors N] [--rounds 21] [--json OUT]

Method of PERFORMANCE 0. us: the call with the queue ahead of the host, so what the GPU takes; graph us: replay of a
captured step, the kernels' own time; idle us: the call on an idle GPU, with what the host takes. % of a copy that moves
as many bytes as the step must. Norms and biases are a group without weight decay.

  f32          parameters, gradients and states in f32: 28 bytes a parameter
  bf16         parameters and gradients in bf16, masters and states in f32: 28 bytes a parameter; with torch the
               gradients become f32 ones, fused AdamW steps the masters, and these are copied back

On the CPU (a list of its own default) times are the host's, and the copy is the CPU's.
"""
import argparse
import gc
import json
import math
import statistics
import sys
import time
from datetime import date
from pathlib import Path

try:
    import torch

    import fusewright
    from fusewright import optim
except ImportError as error:
    print(f"skipped: needs torch and the package fusewright: {error}")
    sys.exit(77)

from timing import MODELS, ROUNDS, Clock, random_tensor  # noqa: E402

BYTES = 28  # a parameter: read g 4, p 4, m 4, v 4, write p, m, v; with masters read g 2, p 4, m 4, v 4, write these and 2
SHORT = 100_000_000  # elements: below, a list is a short one of PERFORMANCE


class DeviceClock(Clock):
    def measure(self, work, moved, captured=True):
        if captured:
            return self.figures(work, moved)
        us, idle = self.time(work), self.time(work, idle=True)
        return {"us": us, "idle_us": idle, "percent_of_copy": 100 * moved / self.copy_rate(moved) / us}


class HostClock:
    """The same figures of a machine without a queue."""

    def __init__(self, rounds):
        self.rounds = rounds

    def time(self, work):
        times = []
        for _ in range(self.rounds + 3):
            start = time.perf_counter()
            work()
            times.append(1e6 * (time.perf_counter() - start))
        return statistics.median(times[3:])

    def measure(self, work, moved, captured=True):
        source = torch.ones(moved // 2, dtype=torch.uint8)
        target = torch.empty_like(source)
        us = self.time(work)
        return {"us": us, "idle_us": us, "percent_of_copy": 100 * self.time(lambda: target.copy_(source)) / us}


def parameters_of(shapes, dtype, device):
    made = random_tensor if device == "cuda" else lambda shape, dtype: torch.randn(shape).mul_(1e-2).to(dtype)
    parameters = [made(shape, dtype).requires_grad_() for shape in shapes]
    for parameter in parameters:
        parameter.grad = made(parameter.shape, dtype)
    return parameters


def groups(parameters):
    parts = [{"params": [p for p in parameters if p.dim() > 1]},
             {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0}]
    return [part for part in parts if part["params"]]


def ours(parameters, device):
    return optim.AdamW(groups(parameters), master_weights=parameters[0].dtype != torch.float32).step


def torch_step(implementation):
    def make(parameters, device):
        masters = parameters
        if parameters[0].dtype != torch.float32:
            masters = [p.detach().float().requires_grad_() for p in parameters]
            for master in masters:
                master.grad = torch.empty_like(master)
        extra = {"capturable": True} if implementation == "fused" and device == "cuda" else {}
        optimizer = torch.optim.AdamW(groups(masters), **{implementation: True}, **extra)
        return optimizer.step if masters is parameters else lambda: by_hand(optimizer, parameters, masters)
    return make


@torch.no_grad()
def by_hand(optimizer, parameters, masters):
    torch._foreach_copy_([master.grad for master in masters], [p.grad for p in parameters])
    optimizer.step()
    torch._foreach_copy_(parameters, masters)


MAKERS = {"fusewright": ours, "torch fused": torch_step("fused"), "torch foreach": torch_step("foreach")}


def measure_case(clock, shapes, dtype, device):
    moved = BYTES * sum(math.prod(shape) for shape in shapes)
    found = {}
    for who, make in MAKERS.items():
        step = make(parameters_of(shapes, dtype, device), device)
        for _ in range(2):
            step()
        found[who] = clock.measure(step, moved, captured=who != "torch foreach")
        del step
        gc.collect()  # optimizers are in cycles with their states
        if device == "cuda":
            torch.cuda.empty_cache()
    return {**found.pop("fusewright"), "bytes": moved, "peers": found}


def measure(clock, options):
    for name in options.lists.split(","):
        shapes = [shape for _, shape in MODELS[name]["tensors"]][:options.tensors]
        elements = sum(math.prod(shape) for shape in shapes)
        for dtype in (torch.float32, torch.bfloat16):
            masters = "" if dtype == torch.float32 else ", bf16 with masters"
            row = {"case": f"AdamW from Python, {name}{masters}"}
            if options.device == "cuda":  # the targets are a GPU's
                row["id"] = "P3" if elements < SHORT else "P2" if masters else "P1"
            row.update(measure_case(clock, shapes, dtype, options.device))
            print(f"measured {row['case']}", file=sys.stderr)
            yield row


COLUMNS = (("us", "us", 9), ("graph_us", "graph us", 9), ("idle_us", "idle us", 9), ("percent_of_copy", "% copy", 7),
           ("percent_of_copy_graph", "% graph", 7))


def print_table(rows, options):
    print(f"{'case':48} {options.device:14}", *[f"{title:>{width}}" for _, title, width in COLUMNS])
    for row in rows:
        for who, one in (("fusewright", row), *row["peers"].items()):
            cells = [f"{one[key]:{width}.1f}" if key in one else f"{'-':>{width}}" for key, _, width in COLUMNS]
            print(f"{row['case'] if one is row else '':48} {who:14}", *cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument("--lists", help=f"of {', '.join(MODELS)}: all on a GPU, resnet-50 on the CPU")
    parser.add_argument("--tensors", type=int, help="only the first so many of a list")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of the CPU")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.device == "auto":
        options.device = "cuda" if torch.cuda.is_available() else "cpu"
    options.lists = options.lists or (",".join(MODELS) if options.device == "cuda" else "resnet-50")
    rows = list(measure(DeviceClock() if options.device == "cuda" else HostClock(options.rounds), options))
    if options.json:
        versions = {"gpu": torch.cuda.get_device_name() if options.device == "cuda" else None, "torch": torch.__version__,
                    "cuda": torch.version.cuda, "fusewright": fusewright.__version__}
        method = "bench/peers/torch_optimizer.py: fusewright.optim.AdamW and torch's in one process, called from Python"
        options.json.write_text(json.dumps({"date": str(date.today()), "method": method, "versions": versions, "rows": rows},
                                           indent=1) + "\n")
    print_table(rows, options)


if __name__ == "__main__":
    main()
