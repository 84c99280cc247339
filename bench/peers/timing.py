"""What the comparisons with torch share: cases, tensors and the clock of PERFORMANCE 0."""
import json
import statistics
from pathlib import Path

import torch

TABLES = Path(__file__).resolve().parents[1] / "tables"
MODELS = json.loads((TABLES / "models.json").read_text())
CASES = json.loads((TABLES / "cases.json").read_text())
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
LARGEST_COPY, FLUSH, ROUNDS = 4 << 30, 128 << 20, 21


class Clock:
    """largest: bytes of a copy; wait: cycles that fill the queue before a kernel is timed."""

    def __init__(self, largest=LARGEST_COPY, wait=10_000_000):
        self.source, self.target = (torch.empty(largest, dtype=torch.uint8, device="cuda") for _ in range(2))
        self.source.random_(0, 255)
        self.largest, self.wait = largest, wait
        self.rates = {}

    def time(self, work, idle=False):
        """Microseconds of work()."""
        times = []
        for _ in range(ROUNDS + 3):
            self.target[:FLUSH].copy_(self.source[:FLUSH])
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda.synchronize() if idle else torch.cuda._sleep(self.wait)
            start.record()
            work()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) * 1000)
        return statistics.median(times[3:])

    def copy_rate(self, moved):
        """Bytes read and written a microsecond by a copy of the same bytes."""
        half = min(moved // 2, self.largest)
        if half not in self.rates:
            self.rates[half] = 2 * half / self.time(lambda: self.target[:half].copy_(self.source[:half]))
        return self.rates[half]

    def figures(self, work, moved):
        us, idle = self.time(work), self.time(work, idle=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        graph_us = self.time(graph.replay)
        percent = 100 * moved / self.copy_rate(moved)
        return {"us": us, "graph_us": graph_us, "idle_us": idle, "percent_of_copy": percent / us,
                "percent_of_copy_graph": percent / graph_us}


def random_tensor(shape, dtype, positive=False):
    tensor = torch.randn(shape, device="cuda", dtype=torch.float32)
    return (tensor.abs_() if positive else tensor).mul_(1e-2).to(dtype)


def target_id(case, elements):
    short = CASES["short_list"]
    return short["ids"].get(case["id"], case["id"]) if elements < short["below"] else case["id"]


def describe(case):
    dtypes = [f"{key}={value}" for key, value in case.get("dtypes", {}).items()] or ["f32"]
    return " ".join([case["op"], *case.get("options", {}).values(), *dtypes, *("+" + name for name in case.get("features", []))])
