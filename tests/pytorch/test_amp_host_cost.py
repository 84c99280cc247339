"""What a scaled step costs the host, beside torch's. Prints its times; the tensors are tiny, so that they are the host's."""
import time

import pytest
import torch

from fusewright import optim
from fusewright.amp import GradScaler, clip_grad_norm_


def best(call, calls, batches=7):
    """us per call, of the best batch."""
    call()
    times = []
    for _ in range(batches):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    return min(times) * 1e6


class Empty(torch.optim.Optimizer):
    """What is left is the scaler's."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    def step(self, closure=None):
        pass

    step.hooked = True


def parameters_on(device, count):
    made = [torch.nn.Parameter(torch.ones(4, device=device)) for _ in range(count)]
    for p in made:
        p.grad = torch.ones(4, device=device)
    return made


def scaled_step(scaler, optimizer, unscales=False):
    scaler.scale(torch.ones((), device=optimizer.param_groups[0]["params"][0].device))

    def call():
        if unscales:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()

    return call


@pytest.mark.parametrize("count", [10, 1000])
def test_times(device, count, capsys):
    calls, parameters = 20000 // count // 10, parameters_on(device, count)

    def options(kind):
        return kind(device, init_scale=1.0, growth_interval=10**6)

    ours, theirs = options(GradScaler), options(torch.amp.GradScaler)
    adamw = optim.AdamW(parameters, lr=1e-3)
    torchs = torch.optim.AdamW(parameters, lr=1e-3, fused=True)
    rows = {
        "scaler + AdamW": (scaled_step(ours, adamw), scaled_step(theirs, torchs)),
        "scaler alone, any optimizer": (scaled_step(ours, Empty(parameters)), scaled_step(theirs, Empty(parameters))),
        "unscale_ + scaler + AdamW": (scaled_step(ours, adamw, True), scaled_step(theirs, torchs, True)),
        "clip_grad_norm_": tuple(
            lambda clip=clip: clip(parameters, 1.0) for clip in (clip_grad_norm_, torch.nn.utils.clip_grad_norm_)
        ),
    }
    times = {name: tuple(best(call, calls) for call in pair) for name, pair in rows.items()}
    with capsys.disabled():
        print(f"\n{count} tensors on {device}, us of the host: fusewright, torch {torch.__version__}")
        for name, (mine, other) in times.items():
            print(f"  {name:28} {mine:8.1f} {other:8.1f}")
    if count == 1000:
        assert all(mine < other for mine, other in times.values()), times
    assert ours.state(wait=True).skips == 0
