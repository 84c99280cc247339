#!/usr/bin/env python3
"""Whole mixed-precision steps and norms of this library beside torch's, in one process.

usage: torch_whole_steps.py LIBFUSEWRIGHT [--device cuda|cpu] [--lists llama-1.1b,resnet-50] [--json OUT]

A step unscales the gradients, looks for inf and NaN, clips by their common norm, does AdamW on f32 parameters and
copies these to bf16: two launches of ours. torch: _amp_foreach_non_finite_check_and_unscale_, clip_grad_norm_
(foreach), AdamW (fused), _foreach_copy_; bf16 gradients first become f32 ones, since AdamW asks for them.

1. Both on a small list from the same numbers, with the greatest differences: exit status 1 beyond the tolerance.
2. A profiler's list of the kernels of one step: exit status 1 unless ours are two.
3. Times, by the method of torch_steps.py. Norms have no copy to be held against: GB/s, and percent of torch's time.
With --device cpu only 1 runs. Without torch, or without a GPU for cuda: exit status 77 and the reason.
"""
import argparse
import json
import math
import sys
import tempfile
from pathlib import Path

import capi

try:
    import torch
except Exception as error:  # no module, or one that does not load
    print(f"skipped: needs torch: {type(error).__name__}: {error}")
    sys.exit(77)

from timing import CASES, DTYPES, MODELS, Clock, describe, random_tensor  # noqa: E402

SCALE, MAX_NORM = 65536.0, 1.0
SMALL = [(33, 65), (128,), (1000,), (7, 3, 5), (70001,), (1,)]
STEPS = 3
# Both round in f32, in another order; torch's norm is itself an f32 number, and its fused AdamW has 1 - beta2 in f32,
# which is off by up to 3e-5.
TOLERANCES = {"p": 1e-6, "m": 5e-6, "v": 4e-5, "norm": 1e-5, "copy": 2 ** -7}


def cases(ids):
    return [case for case in CASES["cases"] if case["id"] in ids]


class Ours:
    """A two-launch plan on tensors of its own."""

    def __init__(self, library, case, parameters, gradients, device):
        self.program = capi.Program(library, case, "cuda:0" if device == "cuda" else "cpu")
        self.tensors = {operand.name: self.operand(operand, parameters, gradients) for operand in self.program.of_entries()}
        self.ones = {operand.name: torch.full((1,), -7.0, device=device, dtype=DTYPES[operand.dtype])
                     for operand in self.program.of_all()}
        entries = [(tuple(parameters[i].shape), [column[i].data_ptr() for column in self.tensors.values()])
                   for i in range(len(parameters))]
        scalars = [capi.scalar("all.scale", SCALE), capi.scalar("all.max_norm", MAX_NORM), capi.scalar("t", 2)]
        groups = [([entry for entry in entries if len(entry[0]) > 1], scalars),
                  ([entry for entry in entries if len(entry[0]) <= 1], scalars + [capi.scalar("weight_decay", 0)])]
        self.plan = capi.Plan(self.program, [group for group in groups if group[0]],
                              [one.data_ptr() for one in self.ones.values()], capi.CUDA if device == "cuda" else capi.CPU)
        self.stream = (lambda: torch.cuda.current_stream().cuda_stream) if device == "cuda" else lambda: 0

    @staticmethod
    def operand(operand, parameters, gradients):
        if operand.role == "param":
            return [parameter.clone() for parameter in parameters]
        if operand.role == "grad":
            return gradients
        return [torch.zeros_like(parameter, dtype=DTYPES[operand.dtype]) for parameter in parameters]

    def step(self, number=None):
        self.plan.run(self.stream(), [capi.scalar("t", number)] if number else [])

    def check_applied(self):
        skipped = self.ones["all.skipped"].item()
        if skipped != 0:
            raise SystemExit(f"error: expected a step that is applied, got one that is skipped: all.skipped = {skipped}")


class Torch:
    """The same step as torch's users write it. `scale` is 1 where it is timed: gradients that are divided in place
    again and again would end as zeros."""

    def __init__(self, parameters, gradients, device, scale):
        self.parameters = [parameter.clone().requires_grad_() for parameter in parameters]
        self.given = gradients
        self.found = torch.zeros((), device=device)
        self.inverse = torch.full((), 1 / scale, device=device)
        self.copies = [torch.empty_like(parameter, dtype=torch.bfloat16) for parameter in parameters]
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient if gradient.dtype == torch.float32 else torch.empty_like(parameter)
        self.gradients = [parameter.grad for parameter in self.parameters]
        groups = [{"params": [p for p in self.parameters if p.dim() > 1]},
                  {"params": [p for p in self.parameters if p.dim() <= 1], "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW([group for group in groups if group["params"]], fused=True,
                                           **({"capturable": True} if device == "cuda" else {}))
        self.optimizer.found_inf = self.found  # as GradScaler does
        self.norm = None

    @torch.no_grad()
    def step(self):
        if self.given[0].dtype != torch.float32:
            torch._foreach_copy_(self.gradients, self.given)
        self.found.zero_()
        torch._amp_foreach_non_finite_check_and_unscale_(self.gradients, self.found, self.inverse)
        self.norm = torch.nn.utils.clip_grad_norm_(self.parameters, MAX_NORM, foreach=True)
        self.optimizer.step()
        torch._foreach_copy_(self.copies, self.parameters)

    def states(self, key):
        return [self.optimizer.state[parameter][key] for parameter in self.parameters]


def torch_norm(tensors):
    return torch.linalg.vector_norm(torch.stack(torch._foreach_norm(tensors)))


def greatest(ours, theirs, tolerance):
    """The greatest difference, and the greatest share of what is tolerated: so much of the number and of the largest
    one, since a moment may cancel."""
    difference, share = 0.0, 0.0
    largest = max(b.abs().max().item() for b in theirs)
    for a, b in zip(ours, theirs, strict=True):
        a, b = a.detach().double().flatten(), b.detach().double().flatten()
        gap = (a - b).abs()
        if not bool(gap.isfinite().all()):
            return math.inf, math.inf
        difference = max(difference, gap.max().item())
        share = max(share, (gap / (tolerance * (b.abs() + largest))).max().item())
    return difference, share


def check_step(library, case, device):
    """True where all numbers are within the tolerance."""
    generator = torch.Generator().manual_seed(2018)

    def draw(shape):
        return torch.randn(shape, generator=generator)

    dtype = DTYPES[case.get("dtypes", {}).get("grad", "f32")]
    parameters = [(draw(shape) * 0.1).to(device) for shape in SMALL]
    gradients = [torch.empty(shape, dtype=dtype, device=device) for shape in SMALL]
    ours = Ours(library, case, parameters, gradients, device)
    theirs = Torch(parameters, [gradient.clone() for gradient in gradients], device, SCALE)
    fine = True
    for number in range(1, STEPS + 1):
        drawn = [(draw(shape) * 0.02 * number * SCALE).to(dtype) for shape in SMALL]
        for tensor, a, b in zip(drawn, gradients, theirs.given, strict=True):
            a.copy_(tensor), b.copy_(tensor)
        ours.step(number)
        theirs.step()
        if device == "cuda":
            torch.cuda.synchronize()
        ours.check_applied()
        pairs = {"p": (ours.tensors["p"], theirs.parameters), "m": (ours.tensors["m"], theirs.states("exp_avg")),
                 "v": (ours.tensors["v"], theirs.states("exp_avg_sq")), "copy": (ours.tensors["p.copy"], theirs.copies),
                 "norm": ([ours.ones["all.norm"]], [theirs.norm.reshape(1)])}
        words = []
        for name, (a, b) in pairs.items():
            difference, share = greatest(a, b, TOLERANCES[name])
            fine = fine and share <= 1
            words.append(f"{name} {difference:.1e} ({share:.2f})")
        print(f"  step {number}, norm {theirs.norm.item():.4g}: " + ", ".join(words))
    ours.plan.close()
    return fine


def check_norm(library, case, device):
    dtype = DTYPES[case.get("dtypes", {}).get("in", "f32")]
    tensors = [torch.randn(shape).to(device, dtype) for shape in SMALL]
    plan, norm = norm_plan(library, case, tensors, device)
    plan.run()
    expected = [torch.cat([tensor.double().flatten() for tensor in tensors]).norm().reshape(1)] if case["op"] == "l2norm" else \
        [max(tensor.double().abs().max() for tensor in tensors).reshape(1)]
    if device == "cuda":
        torch.cuda.synchronize()
    difference, share = greatest([norm], expected, TOLERANCES["norm"])
    print(f"  {describe(case)}: {norm.item():.6g}, difference from f64 {difference:.1e} ({share:.2f})")
    plan.close()
    return share <= 1


def norm_plan(library, case, tensors, device):
    program = capi.Program(library, case, "cuda:0" if device == "cuda" else "cpu")
    norm = torch.full((1,), -7.0, device=device)
    plan = capi.Plan(program, [([(tuple(tensor.shape), [tensor.data_ptr()]) for tensor in tensors], [])], [norm.data_ptr()],
                     capi.CUDA if device == "cuda" else capi.CPU)
    return plan, norm


def check(library, device):
    print("greatest differences from torch (in brackets: share of the tolerance, which is " +
          ", ".join(f"{name} {value:.1e}" for name, value in TOLERANCES.items()) + ")")
    torch.manual_seed(2018)
    fine = True
    for case in cases(("P4", "P5")):
        print(describe(case))
        fine = check_step(library, case, device) and fine
    print("norms")
    for case in cases(("P7",)):
        fine = check_norm(library, case, device) and fine
    print("numbers: " + ("as torch's" if fine else "error: expected torch's within the tolerance"))
    return fine


def device_events(work):
    """(kind, name, us) of what the device does for work(), in its order."""
    for _ in range(2):  # the first one also sets the profiler up
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
            work()
            torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    found = [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    return [(event["cat"], event["name"], event["dur"]) for event in sorted(found, key=lambda event: event["ts"])]


def trace(library, case):
    """Prints the kernels of one step; true where they are two and nothing else is queued."""
    shapes = [shape for _, shape in MODELS["resnet-50"]["tensors"]]
    dtype = DTYPES[case.get("dtypes", {}).get("grad", "f32")]
    parameters = [random_tensor(shape, torch.float32) for shape in shapes]
    gradients = [random_tensor(shape, dtype) for shape in shapes]
    ours, theirs = Ours(library, case, parameters, gradients, "cuda"), Torch(parameters, gradients, "cuda", 1)
    ours.step(), theirs.step()
    torch.cuda.synchronize()
    before = library.launches()
    ours.step()
    launches = library.launches() - before
    events, others = device_events(ours.step), device_events(theirs.step)
    print(f"one step, {describe(case)}, resnet-50: the library launched {launches}, the profiler saw {len(events)}")
    for kind, name, us in events:
        print(f"  {kind:10} {us:9.1f} us  {name}")
    print(f"  torch's step: {len(others)} kernels, copies and fills, {sum(us for _, _, us in others):.1f} us of the device in all")
    if not events:
        print("  the profiler saw nothing: is CUPTI there? The library's own count decides")
    fine = launches == 2 and (not events or [kind for kind, _, _ in events] == ["kernel", "kernel"])
    print("  " + ("two kernels, nothing else" if fine else "error: expected two kernels and nothing else"))
    ours.plan.close()
    return fine, {"case": f"{describe(case)}, resnet-50", "launches": launches, "torch_events": len(others),
                  "events": [{"kind": kind, "name": name, "us": us} for kind, name, us in events]}


def our_step(library, clock, case, shapes, dtype):
    parameters = [random_tensor(shape, torch.float32) for shape in shapes]
    ours = Ours(library, case, parameters, [random_tensor(shape, dtype) for shape in shapes], "cuda")
    del parameters
    ours.step(2)
    torch.cuda.synchronize()
    info = ours.plan.info
    figures = clock.figures(ours.step, info.streamed_bytes)
    ours.check_applied()
    ours.plan.close()
    return {**figures, "bytes": info.streamed_bytes, "launches": info.launches}


def torch_step(clock, shapes, dtype, moved):
    parameters = [random_tensor(shape, torch.float32) for shape in shapes]
    theirs = Torch(parameters, [random_tensor(shape, dtype) for shape in shapes], "cuda", 1)
    del parameters
    theirs.step()
    return clock.figures(theirs.step, moved)


def measure_steps(library, clock, lists):
    for name in lists:
        shapes = [shape for _, shape in MODELS[name]["tensors"]]
        for case in cases(("P4", "P5")):
            dtype = DTYPES[case.get("dtypes", {}).get("grad", "f32")]
            figures = our_step(library, clock, case, shapes, dtype)
            torch.cuda.empty_cache()
            own = CASES["targets"][case["id"]]
            own = own.get("lists", {}).get(name, own)
            row = {"id": case["id"], "case": f"{describe(case)}, {name}, beside torch", "floor": own["floor"], "goal": own["goal"],
                   **figures, "peers": {"torch unscale, clip_grad_norm_, fused AdamW, copy":
                                        torch_step(clock, shapes, dtype, figures["bytes"])}}
            torch.cuda.empty_cache()
            print(f"measured {row['case']}", file=sys.stderr)
            yield row


def measure_norms(library, clock, lists):
    """Without percent: a norm is held against a read, which `fusewright bench` has."""
    for name in lists:
        for case in cases(("P7",)):
            dtype = DTYPES[case.get("dtypes", {}).get("in", "f32")]
            tensors = [random_tensor(shape, dtype) for _, shape in MODELS[name]["tensors"]]
            plan, _ = norm_plan(library, case, tensors, "cuda")
            plan.run()
            torch.cuda.synchronize()
            moved, order = plan.info.streamed_bytes, 2 if case["op"] == "l2norm" else math.inf
            works = {"ours": lambda plan=plan: plan.run(torch.cuda.current_stream().cuda_stream),
                     "torch foreach_norm": lambda tensors=tensors, order=order: torch.linalg.vector_norm(
                         torch.stack(torch._foreach_norm(tensors, order)), order)}
            figures = {who: clock.figures(work, moved) for who, work in works.items()}
            for one in figures.values():
                one["gb_per_s"] = moved / one["us"] * 1e-3
                del one["percent_of_copy"], one["percent_of_copy_graph"]
            plan.close()
            print(f"measured {describe(case)}, {name}", file=sys.stderr)
            yield {"case": f"{describe(case)}, {name}, beside torch", "bytes": moved, "launches": plan.info.launches,
                   **figures.pop("ours"), "peers": figures}


def print_table(rows, unit, key, percent=1.0):
    print(f"\n{'case':64} {'us':>9} {'graph':>9} {'idle':>9} {unit:>7}   torch: {'us':>9} {'graph':>9} {'idle':>9} {unit:>7}"
          f" {'launches':>8}")
    for row in rows:
        cells = []
        for one in (row, *row["peers"].values()):
            cells += [f"{one[name]:9.1f}" for name in ("us", "graph_us", "idle_us")] + [f"{one[key] * percent:7.1f}", "        "]
        print(f"{row['case'].removesuffix(', beside torch'):64}", *cells[:-1], f"{row['launches']:8}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--lists", default=",".join(MODELS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("skipped: needs a GPU, or --device cpu for the numbers alone")
        return 77
    library = capi.Library(options.library)
    fine = check(library, options.device)
    if options.device == "cpu" or not fine:
        return 0 if fine else 1
    traces = []
    for case in cases(("P4", "P5")):
        good, found = trace(library, case)
        fine = fine and good
        traces.append(found)
    clock, lists = Clock(), options.lists.split(",")
    rows, norms = list(measure_steps(library, clock, lists)), list(measure_norms(library, clock, lists))
    print_table(rows, "% copy", "percent_of_copy")
    print_table(norms, "GB/s", "gb_per_s")
    if options.json:
        versions = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
        options.json.write_text(json.dumps({"versions": versions, "rows": rows, "norms": norms, "traces": traces}, indent=1) + "\n")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
