"""Optimizers inside of torch.amp.GradScaler, and the door for a scaler of this package."""
import math
import random

import pytest
import torch

import fusewright.optim
from fusewright.amp import GradScaler
from fusewright.optim import SGD, AdamW
from optim_reference import NAMES, SETTINGS, bits, copies, everything, gradients, parameters, same

pytestmark = pytest.mark.filterwarnings("ignore:.*lose updates")
SHAPES = [(7, 5), (33,), (2, 3, 4)]


def scaled_gradients(params, t, scale, bad=None):
    gradients(params, t)
    for p in params:
        p.grad.mul_(scale)
    if bad is not None:
        params[-1].grad.view(-1)[3] = bad


@pytest.mark.parametrize(("name", "arguments"), SETTINGS, ids=NAMES)
@pytest.mark.parametrize("unscales", [False, True], ids=["step", "unscale_ and step"])
def test_injected_overflows(name, arguments, unscales, device):
    """Skipped steps change nothing and are not counted; the scale goes as torch's does; applied steps are those of
    gradients that were never scaled. The scales are powers of 2, so to the bit, but where the product with the scale is
    one rounding with the sum behind it."""
    rng = random.Random(7)
    params = parameters(SHAPES, device=device)
    alone = copies(params)
    make = getattr(fusewright.optim, name)
    optimizer, plain = make(params, **arguments), make(alone, **arguments)
    scaler = torch.amp.GradScaler(device, init_scale=2.0**10, growth_interval=3)
    scaler.scale(torch.ones((), device=device))
    expected = 2.0**10
    clean = 0
    for t in range(40):
        bad = rng.choice([math.inf, -math.inf, math.nan]) if rng.random() < 0.3 else None
        scaled_gradients(params, t, scaler.get_scale(), bad)
        before = everything(optimizer)
        if unscales:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        assert optimizer.applied.item() == (bad is None)
        if bad is None:
            clean += 1
            gradients(alone, t)
            plain.step()
            if clean == 3:
                expected, clean = 2 * expected, 0
        else:
            expected, clean = expected / 2, 0
            behind = everything(optimizer)
            assert all(torch.equal(behind[key], value) for key, value in before.items())
        assert scaler.get_scale() == expected
        assert not hasattr(optimizer, "grad_scale") and not hasattr(optimizer, "found_inf")
    if name in ("SGD", "Adam") and "weight_decay" in arguments:
        assert all(torch.allclose(p, q, rtol=1e-5, atol=1e-6) for p, q in zip(params, alone))
    else:
        assert all(same(p, q) for p, q in zip(params, alone))


def test_scaled_and_plain_steps_in_turn(device):
    """Both have their plans, and one counter."""
    params = parameters(SHAPES, device=device)
    alone = copies(params)
    optimizer, plain = AdamW(params), AdamW(alone)
    scaler = torch.amp.GradScaler(device, init_scale=8.0)
    scaler.scale(torch.ones((), device=device))
    for t in range(10):
        gradients(alone, t)
        plain.step()
        if t % 2:
            scaled_gradients(params, t, 8.0)
            scaler.step(optimizer)
            scaler.update()
        else:
            gradients(params, t)
            optimizer.step()
    assert all(same(p, q) for p, q in zip(params, alone)) and optimizer.statistics()["plans_made"] == 2


def test_gradients_that_turn_bad_behind_torchs_check(device):
    """The step looks itself (C13): what a hook did is seen."""
    params = parameters(SHAPES, device=device)
    optimizer = AdamW(params)
    scaler = torch.amp.GradScaler(device, init_scale=8.0)
    scaler.scale(torch.ones((), device=device))
    scaled_gradients(params, 1, 8.0)
    scaler.unscale_(optimizer)
    params[0].grad[0, 0] = math.nan
    before = [bits(p) for p in params]
    scaler.step(optimizer)
    scaler.update()
    assert all(torch.equal(bits(p), old) for p, old in zip(params, before)) and optimizer.applied.item() == 0


def test_the_door_for_a_scaler(device):
    """_step_scaled(): reads scale and skip on the device and gives what the plan says of it."""
    params = parameters(SHAPES, device=device)
    alone = copies(params)
    optimizer, plain = SGD(params, lr=0.1, momentum=0.9, max_norm=1.0), SGD(alone, lr=0.1, momentum=0.9, max_norm=1.0)
    scale, skip = torch.tensor(4.0, device=device), torch.zeros((), device=device)
    for t, (bad, left_out, expected) in enumerate([(None, 0, 0), (math.nan, 0, 3), (None, 1, -1), (None, 0, 0)]):
        scaled_gradients(params, t, 4.0, bad)
        skip.fill_(left_out)
        before = everything(optimizer)
        _, (table,) = optimizer._step_scaled(scale, skip)
        (skipped,) = table.skipped
        assert skipped.numel() == 1 and skipped.dtype == torch.float32 and skipped.item() == expected
        assert optimizer.applied.item() == (expected == 0)
        if expected:
            behind = everything(optimizer)
            assert all(torch.equal(behind[key], value) for key, value in before.items())
        else:
            gradients(alone, t)
            plain.step()
    assert all(torch.allclose(p, q, rtol=1e-6, atol=1e-7) for p, q in zip(params, alone))
    gradients(params, 9)
    gradients(alone, 9)
    _, (table,) = optimizer._step_scaled(None)  # unscaled already
    assert table.skipped[0].item() == 0
    plain.step()
    assert all(torch.allclose(p, q, rtol=1e-6, atol=1e-7) for p, q in zip(params, alone))


def test_two_scalers_at_once_are_refused():
    params = parameters(SHAPES)
    optimizer = AdamW(params)
    gradients(params, 1)
    optimizer.found_inf = torch.zeros(())
    with pytest.raises(RuntimeError, match="expected one scaler"):
        optimizer._step_scaled(torch.ones(()))
    optimizer._step_scaled(torch.ones(()))  # what was left behind is gone


def test_an_error_inside_a_scaled_step_leaves_no_scale_behind():
    params = parameters(SHAPES)
    optimizer = AdamW(params)
    gradients(params, 1)
    optimizer.param_groups[0]["lr"] = -1.0
    with pytest.raises(RuntimeError, match="lr"):
        optimizer._step_scaled(torch.ones(()))
    assert not hasattr(optimizer, "found_inf") and not hasattr(optimizer, "grad_scale")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_autocast_training_of_a_small_model(dtype, device):
    if device == "cpu" and dtype == torch.float16 and tuple(map(int, torch.__version__.split(".")[:2])) < (2, 6):
        pytest.skip("needs torch 2.6: float16 autocast on the CPU")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).to(device)
    optimizer, scaler = AdamW(model.parameters(), lr=1e-2, max_norm=1.0), torch.amp.GradScaler(device)
    x = torch.randn(64, 8, device=device)
    y = x.sum(1, keepdim=True)
    losses = []
    for _ in range(60):
        with torch.autocast(device, dtype=dtype):
            loss = (model(x) - y).float().square().mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0] and math.isfinite(losses[-1])


def stepped(optimizer, scaler, parameter, *arguments, **named):
    optimizer.zero_grad()
    scaler.scale(parameter.sum()).backward()
    result = scaler.step(optimizer, *arguments, **named)
    scaler.update()
    return result


def test_a_step_of_a_subclass_under_a_scaler(device):
    """What it changes is seen by the step that it makes, and what it takes and gives goes through."""

    class Counting(SGD):
        steps = 0

        def step(self, closure=None, extra=None):
            self.steps += 1
            for group in self.param_groups:
                group["lr"] = float(self.steps)
            super().step(closure)
            return extra

    parameter = torch.nn.Parameter(torch.zeros(4, device=device))
    optimizer, scaler = Counting([parameter], lr=0.0), GradScaler(device)
    assert [stepped(optimizer, scaler, parameter, extra=i) for i in range(2)] == [0, 1]
    assert parameter.tolist() == [-3.0] * 4


def test_a_step_of_a_subclass_that_makes_none():
    class Idle(SGD):
        def step(self, closure=None):
            return "none"

    parameter = torch.nn.Parameter(torch.zeros(4))
    optimizer, scaler = Idle([parameter], lr=1.0), GradScaler("cpu")
    assert stepped(optimizer, scaler, parameter) == "none"
    assert parameter.tolist() == [0.0] * 4 and scaler.state().updates == 1


def test_lanes_that_are_forgotten_during_a_scaled_step(device):
    parameter = torch.nn.Parameter(torch.ones(4, 3, 2, 2, device=device))
    optimizer, scaler = AdamW([parameter], lr=0.1), GradScaler(device)
    stepped(optimizer, scaler, parameter)
    parameter.data = parameter.data.to(memory_format=torch.channels_last)
    stepped(optimizer, scaler, parameter)
    optimizer.register_step_post_hook(lambda o, *_: o.state[parameter].update(note=1))
    stepped(optimizer, scaler, parameter)
    assert optimizer.state[parameter]["step"].item() == 3 and scaler.state(wait=True).updates == 3


def test_two_scalers_of_ours():
    parameter = torch.nn.Parameter(torch.zeros(4))
    optimizer, first, second = SGD([parameter], lr=1.0), GradScaler("cpu"), GradScaler("cpu")
    second.scale(torch.zeros(()))
    first.scale(parameter.sum()).backward()
    first.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="expected one scaler for an optimizer, got a second fusewright.amp.GradScaler"):
        second.step(optimizer)
    del first
    second.scale(parameter.sum()).backward()
    second.step(optimizer)  # the first has let go
    second.update()


def test_a_default_device_without_memory():
    torch.set_default_device("meta")
    try:
        assert GradScaler("cpu", init_scale=4.0).get_scale() == 4.0
    finally:
        torch.set_default_device(None)
