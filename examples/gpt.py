#!/usr/bin/env python3
"""Trains a small GPT on the letters of a novel: with fusewright.optim.AdamW, with torch's, or with both in turn.

    python examples/gpt.py                                    # both, on the GPU where there is one
    python examples/gpt.py --optimizer fusewright --dtype bf16 --plot loss.png
    python examples/gpt.py --dtype f16                        # 16-bit weights under a loss scale
    python examples/gpt.py --graph --json out.json            # each step as one CUDA graph

Every step clips gradients to norm 1. Where weights have 16 bits the optimizer keeps f32 masters. `both` trains from
the same weights on the same batches, and torch once more on other batches: the difference that these make is the
noise that the difference of the two curves is held against. Exit status 1 where it is larger.
"""
import argparse
import contextlib
import importlib.util
import math
import os
import statistics
import sys
import time
from pathlib import Path

# torch's threads on the CPU spin while they wait; on a busy machine that takes the time of those that work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch  # noqa: E402
from torch import nn  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "gpt"))
import report  # noqa: E402
from model import GPT, Text, write  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
# What a minute is enough for on two cores, and what keeps a GPU busy.
SIZES = {"cpu": {"steps": 600, "batch": 12, "context": 64, "layers": 3, "width": 96, "heads": 4, "lr": 4e-3},
         "cuda": {"steps": 1000, "batch": 64, "context": 256, "layers": 6, "width": 384, "heads": 6, "lr": 1e-3}}
MAX_NORM = 1.0
WARM_UP = 3  # steps before a capture, and before times count in medians


# --- The optimizers -----------------------------------------------------------------------------------------

def groups(parameters):
    """Matrices decay; norms and biases do not."""
    return [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
            {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0}]


def hypers(settings):
    # A graph reads the learning rate where the schedule writes it.
    lr = torch.tensor(settings.lr, device=settings.device) if settings.graph else settings.lr
    return {"lr": lr, "betas": (0.9, 0.95)}


class Fusewright:
    """Unscale, norm, clip, AdamW on masters and the 16-bit copy are one call."""

    def __init__(self, parameters, settings):
        from fusewright import amp, optim
        self.optimizer = optim.AdamW(groups(parameters), **hypers(settings), max_norm=MAX_NORM,
                                     master_weights=settings.dtype != "f32")
        self.scaler = amp.GradScaler(settings.device, enabled=settings.dtype == "f16")

    def step(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def zero_grad(self):
        self.optimizer.zero_grad()


class Torch:
    """The same by hand. Masters get f32 gradients, and their values are copied back."""

    def __init__(self, parameters, settings, **implementation):
        self.weights = self.masters = parameters
        if settings.dtype != "f32":
            self.masters = [weight.detach().float().requires_grad_() for weight in parameters]
            for master in self.masters:
                master.grad = torch.empty_like(master)
        if settings.graph:
            implementation["capturable"] = True
        self.optimizer = torch.optim.AdamW(groups(self.masters), **hypers(settings), **implementation)
        self.scaler = torch.amp.GradScaler(settings.device, enabled=settings.dtype == "f16")

    @torch.no_grad()
    def step(self):
        if self.masters is not self.weights:
            torch._foreach_copy_([master.grad for master in self.masters], [weight.grad for weight in self.weights])
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.masters, MAX_NORM)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if self.masters is not self.weights:
            torch._foreach_copy_(self.weights, self.masters)

    def zero_grad(self):
        for weight in self.weights:
            weight.grad = None


MAKERS = {
    "fusewright": Fusewright,
    "torch": lambda parameters, settings: Torch(parameters, settings, fused=True),
    "torch foreach": lambda parameters, settings: Torch(parameters, settings, foreach=True),
}


def schedule(settings):
    """A share of the learning rate: up for a tenth of the steps, then down a cosine."""
    rise = max(settings.steps // 10, 1)
    return lambda step: min((step + 1) / rise, 0.55 + 0.45 * math.cos(math.pi * step / settings.steps))


# --- Training -----------------------------------------------------------------------------------------------

class Clock:
    """Marks of every step on the device's own clock, which the host does not wait for before it asks."""

    def __init__(self, settings):
        self.cuda = settings.device == "cuda"
        # A graph holds the optimizer's share where it cannot be timed.
        self.marks = {"step": []} if settings.graph else {"step": [], "optimizer": [], "behind": []}

    def mark(self, name):
        if name not in self.marks:
            return
        mark = torch.cuda.Event(enable_timing=True) if self.cuda else time.perf_counter()
        if self.cuda:
            mark.record()
        self.marks[name].append(mark)

    def median(self, first, second):
        """Milliseconds from one mark to the other."""
        pairs = list(zip(first, second))
        pairs = pairs[WARM_UP:] or pairs
        return statistics.median(a.elapsed_time(b) if self.cuda else 1000 * (b - a) for a, b in pairs)

    def of_steps(self):
        return self.median(self.marks["step"], self.marks["step"][1:])

    def of_optimizer(self):
        return self.median(self.marks["optimizer"], self.marks["behind"]) if "optimizer" in self.marks else None


def trainer(model, maker, clock):
    """step(numbers, following) -> loss, as a tensor."""
    def step(numbers, following):
        maker.zero_grad()
        loss = model.loss(numbers, following)
        maker.scaler.scale(loss).backward()
        clock.mark("optimizer")
        maker.step()
        clock.mark("behind")
        return loss.detach()
    return step


class Graph:
    """A step of a trainer that is captured once and replayed on batches of the same shape."""

    def __init__(self, step, batch):
        self.batch = [tensor.clone() for tensor in batch]
        self.graph = torch.cuda.CUDAGraph()
        # On the stream of the steps before it, to which autograd's nodes for the weights belong.
        with torch.cuda.graph(self.graph, stream=torch.cuda.current_stream()):
            self.loss = step(*self.batch)

    def __call__(self, *batch):
        for own, given in zip(self.batch, batch):
            own.copy_(given)
        self.graph.replay()
        return self.loss


@torch.no_grad()
def validate(model, text, settings):
    generator = torch.Generator().manual_seed(0)
    return sum(model.loss(*text.batch(text.validation, settings, generator)).item() for _ in range(10)) / 10


def train(name, text, settings, label=None, data_seed=None):
    """Trains a new model and gives what report.py tells of it."""
    torch.manual_seed(settings.seed)
    model = GPT(len(text.letters), settings).to(settings.device, DTYPES[settings.dtype])
    maker, clock = MAKERS[name](list(model.parameters()), settings), Clock(settings)
    scheduler = torch.optim.lr_scheduler.LambdaLR(maker.optimizer, schedule(settings))
    step = trainer(model, maker, clock)
    generator = torch.Generator().manual_seed(settings.seed if data_seed is None else data_seed)
    losses = torch.zeros(settings.steps, device=settings.device)
    with report.Progress(label or name, settings.steps) as progress:
        for number in range(settings.steps):
            clock.mark("step")
            batch = text.batch(text.training, settings, generator)
            if settings.graph and number == WARM_UP:
                step = Graph(step, batch)
            losses[number] = step(*batch)
            scheduler.step()
            progress.show(number, losses)
    clock.mark("step")
    validation = validate(model, text, settings)  # and all marks have their time
    ms = clock.of_steps()
    return model, {"run": label or name, "optimizer": name, "losses": losses.tolist(), "validation": validation, "ms_per_step": ms,
                   "tokens_per_s": 1000 * settings.batch * settings.context / ms, "optimizer_ms": clock.of_optimizer()}


def train_all(text, settings):
    """Yields (model, run) of each optimizer that was asked for."""
    if settings.optimizer != "both":
        yield train(settings.optimizer, text, settings)
        return
    yield train("torch", text, settings)
    if settings.device == "cuda":
        yield train("torch foreach", text, settings)
    yield train("torch", text, settings, report.NOISE, settings.seed + 1)
    yield train("fusewright", text, settings)


# --- The program --------------------------------------------------------------------------------------------

def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optimizer", choices=("fusewright", "torch", "both"), default="both")
    parser.add_argument("--dtype", choices=DTYPES, default="f32", help="of the weights (f32); few CPUs are fast at f16")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--graph", action="store_true", help="capture a whole step in a CUDA graph")
    for name, value in SIZES["cpu"].items():
        parser.add_argument(f"--{name}", type=type(value), help=f"{value} on the CPU, {SIZES['cuda'][name]} on a GPU")
    parser.add_argument("--seed", type=int, default=1, help="of weights and batches")
    parser.add_argument("--text", type=Path, default=HERE / "gpt/pride_and_prejudice.txt.gz", help="UTF-8, gzip-compressed or plain")
    parser.add_argument("--write", type=int, default=200, help="letters that the trained model writes (200)")
    parser.add_argument("--plot", type=Path, help="a PNG of the curves; needs matplotlib, which is optional")
    parser.add_argument("--json", type=Path)
    settings = parser.parse_args()
    if settings.device == "auto":
        settings.device = "cuda" if torch.cuda.is_available() else "cpu"
    for name, value in SIZES[settings.device].items():
        setattr(settings, name, value if getattr(settings, name) is None else getattr(settings, name))
    return settings


def refuse(settings):
    """Ends the program where the options do not go together."""
    if settings.optimizer != "torch" and not importlib.util.find_spec("fusewright"):
        report.fail("the package fusewright", "none", "install it, or set PYTHONPATH to build/plugins/pytorch/stage")
    if settings.plot and not importlib.util.find_spec("matplotlib"):
        report.fail("the package matplotlib for --plot", "none", "pip install matplotlib, or leave --plot out")
    if settings.device == "cuda" and not torch.cuda.is_available():
        report.fail("a GPU for --device cuda", "none that torch sees", "take --device cpu")
    if settings.graph and settings.device != "cuda":
        report.fail("a GPU for --graph", f"--device {settings.device}", "leave --graph out")
    if settings.graph and settings.dtype == "f16" and settings.optimizer != "fusewright":
        report.fail("--optimizer fusewright for --graph with --dtype f16", f"--optimizer {settings.optimizer}",
                    "torch's loss scaler asks the host at each step")
    if min(getattr(settings, name) for name in SIZES["cpu"] if name != "lr") < 1 or settings.width % settings.heads:
        report.fail("sizes of at least 1, and a width of whole heads", f"width {settings.width} for {settings.heads} heads",
                    "see gpt.py --help")
    if not settings.text.is_file():
        report.fail("a readable text", f"'{settings.text}'", "give --text FILE")


def main():
    settings = options()
    refuse(settings)
    text = Text(settings.text, settings.device)
    if len(text.validation) <= settings.context:
        report.fail(f"a text of more than {10 * settings.context} letters", f"{settings.text.name}", "give a longer one, or a shorter --context")
    side = torch.cuda.stream(torch.cuda.Stream()) if settings.graph else contextlib.nullcontext()
    runs = []
    with side:
        for model, run in train_all(text, settings):
            runs.append(run)
    if settings.write:
        print(f"{runs[-1]['run']} writes: {write(model, text, settings, settings.write)!r}\n")
    return report.tell(runs, settings)


if __name__ == "__main__":
    sys.exit(main())
