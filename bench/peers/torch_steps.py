#!/usr/bin/env python3
"""Optimizer steps of this library beside torch's fused ones, in one process on one GPU.

usage: torch_steps.py LIBFUSEWRIGHT [--lists llama-1.1b,resnet-50] [--host BENCH-GPU-HOST] [--json OUT]

Method of PERFORMANCE 0: random data, foreign data copied before each round, device events, the median of
21. us: device time, the queue being ahead of the host; graph us: replay of a captured graph; idle us:
from an idle device, so with what the host takes. Norms and biases are a group without weight decay.
Without torch or a GPU: exit status 77 and the reason.
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import capi

try:
    import torch
    torch.cuda.current_device()
except Exception as error:  # no module, no driver, no device: each is a reason
    print(f"skipped: needs torch and a GPU: {type(error).__name__}: {error}")
    sys.exit(77)

from timing import CASES, DTYPES, MODELS, Clock, describe, random_tensor, target_id  # noqa: E402


def ours(library, clock, case, shapes):
    program = capi.Program(library, case, "cuda:0")
    entries, kept = [], []
    for shape in shapes:
        tensors = [random_tensor(shape, DTYPES[dtype], role == "state") for _, role, dtype, _ in program.operands]
        kept.append(tensors)
        entries.append((shape, [tensor.data_ptr() for tensor in tensors]))
    step = [] if case["op"] == "lion" else [capi.scalar("t", 2)]
    groups = [([entry for entry in entries if len(entry[0]) > 1], step),
              ([entry for entry in entries if len(entry[0]) <= 1], step + [capi.scalar("weight_decay", 0)])]
    plan = capi.Plan(program, [group for group in groups if group[0]])
    torch.cuda.synchronize()
    figures = clock.figures(lambda: plan.run(torch.cuda.current_stream().cuda_stream), plan.info.streamed_bytes)
    figures.update(bytes=plan.info.streamed_bytes, launches=plan.info.launches)
    torch.cuda.synchronize()
    plan.close()
    return figures


def torch_optimizer(case, shapes, dtype):
    """What torch has for the case, or None: its gradients have the dtype of the parameters."""
    parameters = [random_tensor(shape, dtype).requires_grad_() for shape in shapes]
    for parameter in parameters:
        parameter.grad = random_tensor(parameter.shape, dtype)
    groups = [{"params": [p for p in parameters if p.dim() > 1]},
              {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0}]
    groups = [group for group in groups if group["params"]]
    if case["op"] == "adamw":
        return torch.optim.AdamW(groups, fused=True, capturable=True)
    return torch.optim.SGD(groups, lr=1e-3, momentum=0.9, fused=True)


def peer(clock, case, shapes, moved):
    dtypes = case.get("dtypes", {})
    if case["op"] not in ("adamw", "sgd") or case.get("features") or dtypes.keys() not in (set(), {"param", "grad", "state"}):
        return {}
    optimizer = torch_optimizer(case, shapes, DTYPES[dtypes.get("param", "f32")])
    optimizer.step()
    return {"torch fused": clock.figures(optimizer.step, moved)}


def measure(library, clock, lists):
    for name in lists:
        shapes = [shape for _, shape in MODELS[name]["tensors"]]
        elements = sum(math.prod(shape) for shape in shapes)
        for case in CASES["cases"]:
            if case["id"] not in ("P1", "P2"):
                continue
            figures = ours(library, clock, case, shapes)
            torch.cuda.empty_cache()
            row = {"id": target_id(case, elements), "case": f"{describe(case)}, {name}, beside torch", **figures,
                   "peers": peer(clock, case, shapes, figures["bytes"])}
            torch.cuda.empty_cache()
            print(f"measured {row['case']}", file=sys.stderr)
            yield row


def host_rows(program):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "host.json"
        subprocess.run([program, "--json", str(out)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())


def print_table(rows):
    print(f"{'id':4} {'case':52} {'us':>8} {'graph':>8} {'idle':>8} {'% copy':>7}   torch: {'us':>8} {'graph':>8} {'idle':>8} {'% copy':>7}")
    for row in rows:
        if "us" not in row:
            print(f"{row['id']:4} {row['case']:52} {row['value']:8.2f} {row['unit']}")
            continue
        cells = [f"{row[key]:8.1f}" for key in ("us", "graph_us", "idle_us")] + [f"{row['percent_of_copy']:7.1f}"]
        for other in row["peers"].values():
            cells += ["         "] + [f"{other[key]:8.1f}" for key in ("us", "graph_us", "idle_us")] + [f"{other['percent_of_copy']:7.1f}"]
        print(f"{row['id']:4} {row['case']:52}", *cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--lists", default=",".join(MODELS))
    parser.add_argument("--host", help="the program bench-gpu-host, whose rows are added")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = list(measure(capi.Library(options.library), Clock(), options.lists.split(",")))
    if options.host:
        rows += host_rows(options.host)
    print_table(rows)
    if options.json:
        versions = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
        options.json.write_text(json.dumps({"versions": versions, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
