"""fusewright.amp.GradScaler beside torch.amp.GradScaler, step by step and to the bit."""
import random

import pytest
import torch

from fusewright.amp import GradScaler

PATTERNS, STEPS = 1000, 16
BAD = (float("inf"), float("-inf"), float("nan"))


class Side:
    """Two small optimizers under one scaler, as a training loop uses them."""

    def __init__(self, make_scaler, settings, device):
        self.parameters = [torch.nn.Parameter(torch.linspace(-1, 1, n, device=device)) for n in (5, 3, 4)]
        first, second = self.parameters[:2], self.parameters[2:]
        self.optimizers = [torch.optim.SGD(first, lr=0.25, momentum=0.5), torch.optim.SGD(second, lr=0.125)]
        self.scaler = make_scaler(device, **settings)
        self.scaler.scale(torch.zeros((), device=device))

    def accumulate(self, gradients):
        scale = self.scaler.get_scale()
        for parameter, gradient in zip(self.parameters, gradients):
            scaled = (gradient * scale).to(parameter.device)
            parameter.grad = scaled if parameter.grad is None else parameter.grad + scaled

    def step(self, kinds):
        """kinds: what each optimizer does in this step."""
        for optimizer, kind in zip(self.optimizers, kinds):
            if kind != "step":
                self.scaler.unscale_(optimizer)
            if kind == "clip":
                torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 0.75)
            if kind != "only unscale":
                self.scaler.step(optimizer)
        self.scaler.update()
        for optimizer in self.optimizers:
            optimizer.zero_grad()

    def now(self):
        return [self.scaler.get_scale(), self.scaler._get_growth_tracker(), *(p.tolist() for p in self.parameters)]


def script(rng):
    """Settings and steps: gradients of each accumulated batch, and what the optimizers do."""
    settings = {
        "init_scale": 2.0 ** rng.randint(-20, 100),
        "growth_factor": rng.choice([2.0, 2.0, rng.uniform(1.01, 9)]),
        "backoff_factor": rng.choice([0.5, 0.5, rng.uniform(0.01, 0.99)]),
        "growth_interval": rng.randint(1, 6),
    }
    rate, steps = rng.uniform(0, 0.7) ** 2, []
    for _ in range(STEPS):
        batches = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            gradients = [torch.tensor([rng.uniform(-1, 1) for _ in range(n)]) for n in (5, 3, 4)]
            if rng.random() < rate:
                broken = rng.choice(gradients)
                broken[rng.randrange(len(broken))] = rng.choice(BAD)
            batches.append(gradients)
        steps.append((batches, [rng.choice(["step", "step", "unscale", "clip", "only unscale"]) for _ in range(2)]))
    return settings, steps


def play(side, steps):
    trace = []
    for batches, kinds in steps:
        for gradients in batches:
            side.accumulate(gradients)
        side.step(kinds)
        trace.append(side.now())
    return trace


def same(a, b):
    return repr(a) == repr(b)  # NaN is NaN


def test_thousand_patterns_are_those_of_torch(device):
    rng = random.Random(2018)
    for pattern in range(PATTERNS if device == "cpu" else 20):
        settings, steps = script(rng)
        theirs = play(Side(torch.amp.GradScaler, settings, device), steps)
        ours = play(Side(lambda *a, **k: GradScaler(*a, **k, min_scale=0.0), settings, device), steps)
        for step, (a, b) in enumerate(zip(ours, theirs)):
            assert same(a, b), f"pattern {pattern}, step {step}: {settings}: {a} for {b}"


@pytest.mark.parametrize("skips, scales", [(20, 2.0**-4), (40, 2.0**-16)])
def test_defaults_are_torchs_until_the_floor(skips, scales):
    ours, theirs = (Side(kind, {}, "cpu") for kind in (GradScaler, torch.amp.GradScaler))
    bad = [torch.full((n,), float("inf")) for n in (5, 3, 4)]
    for _ in range(skips):
        for side in (ours, theirs):
            side.accumulate(bad)
            side.step(["step", "step"])
    assert ours.scaler.get_scale() == scales
    assert theirs.scaler.get_scale() == 2.0 ** (16 - skips)
