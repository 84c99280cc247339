"""Scaled steps of the package's optimizers, and of others."""
import gc
import math
import random
import tracemalloc

import pytest
import torch

from fusewright import optim
from fusewright.amp import GradScaler, clip_grad_norm_, clip_grad_value_

KINDS = {
    "adamw": lambda p, **k: optim.AdamW(p, lr=0.1, **k),
    "adam amsgrad": lambda p, **k: optim.Adam(p, lr=0.1, amsgrad=True, **k),
    "sgd": lambda p, **k: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, nesterov=False, **k),
    "lion": lambda p, **k: optim.Lion(p, lr=0.1, **k),
}
FEATURES = [
    {},
    {"max_norm": 0.5},
    {"clip_value": 0.1, "ema_decay": 0.9},
    {"master_weights": True, "max_norm": 0.5, "zero_gradients": True},
]
BAD = (math.inf, -math.inf, math.nan)


def parameters_on(device, seed=1, narrow=False):
    """Odd sizes, a tensor without elements, one in channels-last layout, and 16 bits where asked for."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [(5, 3), (0,), (1,), (2, 3, 4, 5), (300,)]
    made = [torch.randn(shape, generator=generator).to(device) for shape in shapes]
    made[3] = made[3].to(memory_format=torch.channels_last)
    if narrow:
        made = [x.to(torch.bfloat16) if i % 2 else x for i, x in enumerate(made)]
    return [torch.nn.Parameter(x) for x in made]


def give_gradients(parameters, scale, seed):
    generator = torch.Generator().manual_seed(seed)
    for p in parameters:
        gradient = torch.empty_strided(p.shape, p.stride()).copy_(torch.randn(p.shape, generator=generator) * scale)
        p.grad = gradient.to(p.device, p.dtype)


def image(optimizer):
    """Every byte of parameters and states."""
    found = []
    for group in optimizer.param_groups:
        for p in group["params"]:
            found += [p.detach(), *filter(torch.is_tensor, optimizer.state[p].values())]
    return [x.cpu().contiguous().reshape(-1).view(torch.uint8).tolist() if x.numel() else [] for x in found]


@pytest.mark.parametrize("features", FEATURES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_skipped_step_changes_no_byte(device, kind, features):
    narrow = bool(features.get("master_weights"))
    parameters = parameters_on(device, narrow=narrow)
    optimizer, scaler = KINDS[kind](parameters, **features), GradScaler(device, init_scale=1024.0)
    scaler.scale(torch.ones((), device=device))
    rng, skipped = random.Random(3), 0
    for step in range(12):
        give_gradients(parameters, scaler.get_scale(), step)
        is_bad = step in (0, 3, 4, 9)
        if is_bad:
            victim = rng.choice([p for p in parameters if p.numel()])
            flat = victim.grad.as_strided((victim.numel(),), (1,))
            flat[rng.randrange(victim.numel())] = rng.choice(BAD)
        gradients = [p.grad.clone() for p in parameters]
        before = image(optimizer)
        if step % 2:
            scaler.unscale_(optimizer)
            gradients = [p.grad.clone() for p in parameters]
        scaler.step(optimizer)
        scaler.update()
        skipped += is_bad
        after = image(optimizer)
        if is_bad and step > 0:
            assert after == before, f"step {step}"
        elif is_bad:  # states were made by this step: as new
            assert all(torch.equal(p.detach(), q.detach()) for p, q in zip(parameters, parameters_on(device, narrow=narrow)))
            states = [optimizer.state[p].get(name) for p in parameters for name in ("step", "exp_avg", "momentum_buffer")]
            assert all(x is None or not x.any() for x in states)
        else:
            assert after != before
        assert optimizer.applied.item() == (not is_bad)
        if is_bad:  # who adds up batches decides what becomes of them, but for zero_gradients
            for p, g in zip(parameters, gradients):
                if optimizer._settings.zero_gradients:
                    assert not p.grad.any()
                else:
                    assert torch.equal(p.grad, g) or torch.isnan(g).any()
    assert scaler.state(wait=True).skips == skipped


def test_momentum_of_a_skipped_first_step_is_not_there(device):  # C01
    p = torch.nn.Parameter(torch.zeros(2, device=device))
    optimizer, scaler = optim.SGD([p], lr=1.0, momentum=0.9, dampening=0.5), GradScaler(device, init_scale=2.0)
    scaler.scale(torch.ones((), device=device))
    p.grad = torch.tensor([math.inf, 1.0], device=device)
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == [0.0, 0.0]
    p.grad = torch.tensor([1.0, 1.0], device=device)  # the scale is 1 now
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == [-1.0, -1.0] and optimizer.state[p]["momentum_buffer"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("hides", [None, "nan_to_num", "clip value"])
def test_a_gradient_that_was_bad_at_unscale_skips(device, hides):
    parameters = parameters_on(device)
    optimizer, scaler = optim.AdamW(parameters, lr=0.1), GradScaler(device, init_scale=8.0)
    scaler.scale(torch.ones((), device=device))
    give_gradients(parameters, 8.0, 1)
    parameters[4].grad[7] = math.inf
    scaler.unscale_(optimizer)
    if hides == "nan_to_num":
        parameters[4].grad.nan_to_num_()
    elif hides:
        clip_grad_value_(parameters, 0.5)
    old = [p.detach().clone() for p in parameters]
    scaler.step(optimizer)
    scaler.update()
    assert all(torch.equal(p, q) for p, q in zip(parameters, old))
    state = scaler.state(wait=True)
    assert (state.outcome, state.tensor, state.scale) == ("bad_gradient", 4, 4.0)


@pytest.mark.parametrize("bad", BAD)
def test_a_gradient_that_becomes_bad_behind_unscale_skips(device, bad):  # C13
    parameters = parameters_on(device)
    optimizer, scaler = optim.AdamW(parameters, lr=0.1), GradScaler(device, init_scale=8.0)
    scaler.scale(torch.ones((), device=device))
    give_gradients(parameters, 8.0, 1)
    scaler.unscale_(optimizer)
    parameters[3].grad[1, 2, 3, 4] = bad
    old = [p.detach().clone() for p in parameters]
    scaler.step(optimizer)
    scaler.update()
    assert all(torch.equal(p, q) for p, q in zip(parameters, old))
    state = scaler.state(wait=True)
    assert (state.outcome, state.parameter, state.scale) == ("bad_gradient", "group 0, parameter 3", 4.0)


def test_a_norm_that_overflows_skips(device):
    parameters = parameters_on(device)
    optimizer, scaler = optim.AdamW(parameters, lr=0.1, max_norm=1.0), GradScaler(device, init_scale=2.0)
    scaler.scale(torch.ones((), device=device))
    give_gradients(parameters, 1.0, 1)
    parameters[0].grad[0, 0] = 3e38
    scaler.step(optimizer)
    scaler.update()
    state = scaler.state(wait=True)
    assert (state.outcome, state.tensor, state.parameter, state.scale) == ("bad_norm", None, None, 1.0)


def trained(make, scaler, parameters, device, road, scales, steps=40):
    """A run whose gradients are those of scale * loss; None: no scaler, divided by hand."""
    optimizer = make(parameters)
    if scaler is not None:
        scaler.scale(torch.ones((), device=device))
    for step in range(steps):
        scale = scaler.get_scale() if scaler is not None else 1.0
        is_bad = step % 7 == 3
        for _ in range(1 + step % 3):  # accumulated batches
            kept = [None if p.grad is None else p.grad.clone() for p in parameters]
            give_gradients(parameters, scale, 100 * step + _)
            for p, old in zip(parameters, kept):
                p.grad = p.grad if old is None else p.grad + old
        if is_bad:
            parameters[0].grad[0, 1] = BAD[step % 3]
        if scaler is None:
            if not is_bad:
                if road == "unscale_ and clip":
                    torch.nn.utils.clip_grad_norm_(parameters, 0.75)
                optimizer.step()
        else:
            if road == "unscale_ and clip":
                scaler.unscale_(optimizer)
                clip_grad_norm_(parameters, 0.75)
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        optimizer.zero_grad()
    return parameters


@pytest.mark.parametrize("road", ["step", "unscale_ and clip"])
@pytest.mark.parametrize("name", ["AdamW", "Adam", "SGD"])
def test_training_is_that_of_torch_in_float64(device, name, road):
    options = {"SGD": {"lr": 0.05, "momentum": 0.9}}.get(name, {"lr": 0.05})
    scaler, scales = GradScaler(device, init_scale=512.0, growth_interval=5), []
    ours = trained(lambda p: getattr(optim, name)(p, **options), scaler, parameters_on(device), device, road, scales)
    exact = [torch.nn.Parameter(p.detach().double()) for p in parameters_on(device)]
    trained(lambda p: getattr(torch.optim, name)(p, **options), None, exact, device, road, [])
    for p, q in zip(ours, exact):
        torch.testing.assert_close(p.double(), q, rtol=2e-5, atol=2e-5)
    theirs = torch.amp.GradScaler(device, init_scale=512.0, growth_interval=5)
    wanted = []
    trained(lambda p: getattr(torch.optim, name)(p, **options), theirs, parameters_on(device), device, road, wanted)
    assert scales == wanted and scaler.state(wait=True).skips == 6


@pytest.mark.parametrize("road", ["step", "unscale_ and clip"])
def test_torchs_fused_optimizer_decides_on_the_device(device, road):
    def make(p):
        return torch.optim.AdamW(p, lr=0.05, fused=True)

    results = []
    for kind in (GradScaler, torch.amp.GradScaler):
        scaler, scales = kind(device, init_scale=512.0, growth_interval=5), []
        parameters = [p for p in parameters_on(device) if p.numel()]
        trained(make, scaler, parameters, device, road, scales)
        results.append(([p.tolist() for p in parameters], scales))
    assert results[0][1] == results[1][1]
    for p, q in zip(results[0][0], results[1][0]):
        torch.testing.assert_close(torch.tensor(p), torch.tensor(q), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", [torch.optim.SGD, optim.SGD])
def test_parameters_that_come_later_and_move_are_looked_at(device, kind):
    first, second = (torch.nn.Parameter(torch.ones(3, device=device)) for _ in range(2))
    optimizer, scaler = kind([first], lr=0.5), GradScaler(device, init_scale=4.0)
    scaler.scale(torch.ones((), device=device))

    def step(bad=None):
        before = [p.tolist() for p in (first, second)]
        for p in (first, second):
            p.grad = torch.full_like(p, math.inf if p is bad else scaler.get_scale())
        scaler.unscale_(optimizer)
        assert bad is not None or all(g == 1 for p in (first, second) if p in watched for g in p.grad.tolist())
        scaler.step(optimizer)
        scaler.update()
        return [p.tolist() != old for p, old in zip((first, second), before)]

    watched = {first}
    assert step() == [True, False] and step(bad=second) == [True, False]
    optimizer.add_param_group({"params": [second]})
    watched.add(second)
    assert step() == [True, True] and step(bad=second) == [False, False]
    first.data = first.data.double()  # a gradient of another dtype
    first.grad = None
    assert step() == [True, True] and step(bad=first) == [False, False]
    assert scaler.get_scale() == 1.0


def test_sparse_gradients_of_other_optimizers(device):
    results = []
    for kind in (GradScaler, torch.amp.GradScaler):
        torch.manual_seed(1)
        embedding = torch.nn.Embedding(6, 3, sparse=True).to(device)
        optimizer, scaler = torch.optim.SparseAdam(embedding.parameters(), lr=0.1), kind(device, init_scale=64.0)
        for step in range(6):
            optimizer.zero_grad()
            rows = torch.tensor([1, 4, 1, step % 6], device=device)
            scaler.scale((embedding(rows) ** 2).sum() * (math.inf if step == 2 else 1.0)).backward()
            scaler.step(optimizer)
            scaler.update()
        results.append((embedding.weight.tolist(), scaler.get_scale()))
    assert results[0] == results[1] and results[0][1] == 32.0


def test_options_that_change_before_the_step_leave_one_decision(device):
    """Parameters with other options belong to another plan, and both are told what either would find."""
    first, second = parameters = [torch.nn.Parameter(torch.ones(3, device=device)) for _ in range(2)]
    optimizer = optim.AdamW([{"params": [p]} for p in parameters], lr=0.1)
    scaler = GradScaler(device, init_scale=1.0)
    for bad in (None, math.inf, None):
        optimizer.zero_grad()
        scaler.scale(first.sum() + second.sum()).backward()
        before = image(optimizer)
        if bad is not None:
            optimizer.param_groups[1]["amsgrad"] = True
            second.grad[0] = bad
        scaler.step(optimizer)
        scaler.update()
        assert (first.tolist() == second.tolist()) and optimizer.applied.item() == (bad is None)
        if bad is not None:
            assert image(optimizer)[0] == before[0] and optimizer.state[first]["step"].item() == 1


@pytest.mark.parametrize("unscales", [False, True])
@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, lr=0.5), lambda p: torch.optim.SGD(p, lr=0.5)], ids=["ours", "torch's"])
def test_a_bad_gradient_of_a_rank_that_only_the_scaler_knows(device, make, unscales):
    parameter = torch.nn.Parameter(torch.ones(3, device=device))
    optimizer, scaler = make([parameter]), GradScaler(device, init_scale=4.0, process_group="another rank's")
    is_bad = False

    def all_reduce(numbers, kind):
        assert kind == "max"  # of minima, negated: tensor 0
        if is_bad:
            numbers.fill_(0)

    scaler._roads._world = all_reduce
    for is_bad in (False, True, False):
        before = parameter.tolist()
        optimizer.zero_grad()
        scaler.scale(parameter.sum()).backward()
        if unscales:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        assert (parameter.tolist() == before) == is_bad
    assert scaler.get_scale() == 2.0 and parameter.tolist() == [0.0] * 3


def test_a_scheduler_sees_the_steps(device):
    p = torch.nn.Parameter(torch.ones(3, device=device))
    optimizer, scaler = optim.AdamW([p], lr=1.0), GradScaler(device)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    seen = []
    optimizer.register_step_post_hook(lambda *_: seen.append(1))
    scaler.scale(p.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    schedule.step()  # would warn, were optimizer.step() not seen
    assert optimizer.param_groups[0]["lr"] == 0.5 and seen == [1]


def test_float16_gradients_that_vanish_when_divided_are_not_lost(device):
    p = torch.nn.Parameter(torch.zeros(4, dtype=torch.float16, device=device))
    optimizer, scaler = optim.SGD([p], lr=2.0**20, master_weights=True), GradScaler(device, init_scale=2.0**16)
    scaler.scale(torch.ones((), device=device))
    p.grad = torch.full_like(p, 2.0**-24)  # the smallest; 2^-40 is none of float16
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == [-(2.0**-20)] * 4


def test_optimizers_with_parameters_on_other_devices_than_the_loss(device):
    """The scale is copied, and the report comes back."""
    p = torch.nn.Parameter(torch.ones(3, device=device))
    optimizer, scaler = optim.SGD([p], lr=0.5), GradScaler("cpu", init_scale=4.0)
    scaler.scale(torch.ones(()))  # on the CPU
    for bad in (False, True):
        p.grad = torch.full_like(p, math.inf if bad else 4.0)
        scaler.step(optimizer)
        scaler.update()
    assert p.tolist() == [0.5] * 3 and scaler.get_scale() == 2.0


@pytest.mark.gpu
def test_two_devices_decide_together():
    parameters = [torch.nn.Parameter(torch.ones(3, device=device)) for device in ("cpu", "cuda")]
    optimizer, scaler = optim.SGD(parameters, lr=0.5), GradScaler("cuda", init_scale=4.0)
    scaler.scale(torch.ones((), device="cuda"))
    for bad in (None, 0, 1):
        for i, p in enumerate(parameters):
            p.grad = torch.full_like(p, math.inf if bad == i else scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()
        assert [p.tolist() for p in parameters] == [[0.5] * 3] * 2, bad
    assert scaler.get_scale() == 1.0


@pytest.mark.gpu
def test_nothing_waits_for_the_device():
    parameters = parameters_on("cuda")
    optimizer, scaler = optim.AdamW(parameters, lr=0.1, max_norm=1.0), GradScaler("cuda", init_scale=8.0)
    scaler.scale(torch.ones((), device="cuda"))
    give_gradients(parameters, 8.0, 1)

    def loop():
        scaler.step(optimizer)
        scaler.update()
        scaler.unscale_(optimizer)
        clip_grad_norm_(parameters, 1.0)
        clip_grad_value_(parameters, 1.0)
        scaler.step(optimizer)
        scaler.update()
        scaler.state()

    loop()
    torch.cuda.set_sync_debug_mode("error")
    try:
        loop()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert scaler.state(wait=True).updates == 4


@pytest.mark.gpu
def test_a_captured_step_follows_the_scale():
    eager, graphed = [torch.nn.Parameter(torch.ones(1000, device="cuda")) for _ in range(2)]
    runs = []
    for p in (eager, graphed):
        p.grad = torch.zeros_like(p)
        optimizer, scaler = optim.AdamW([p], lr=0.1, max_norm=1.0), GradScaler("cuda", init_scale=1024.0, growth_interval=3)
        scaler.scale(torch.ones((), device="cuda"))
        runs.append((p, optimizer, scaler))

    def step(p, optimizer, scaler):
        scaler.step(optimizer)
        scaler.update()

    for run in runs:  # a step outside
        step(*run)
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        step(*runs[1])
    for i in range(12):
        for p, _, scaler in runs:
            p.grad.fill_(math.inf if i % 5 == 2 else scaler.get_scale() * (1 + i))
        step(*runs[0])
        graph.replay()
        assert torch.equal(eager, graphed), i
        assert runs[0][2].get_scale() == runs[1][2].get_scale(), i
    assert runs[0][2].state(wait=True).skips == runs[1][2].state(wait=True).skips == 2


def test_four_hundred_steps_leave_memory_flat(device):
    parameters = [p for p in parameters_on(device) if p.numel()]
    ours, other = optim.AdamW(parameters[:2], lr=0.01, max_norm=1.0), torch.optim.SGD(parameters[2:], lr=0.01)
    scaler = GradScaler(device, init_scale=8.0, growth_interval=3, max_scale=64.0)

    def step(number):
        loss = scaler.scale(sum((p * p).sum() for p in parameters))
        loss.backward()
        if number % 5 == 0:
            parameters[0].grad[0] = math.inf
        if number % 2:
            scaler.unscale_(ours)
            clip_grad_norm_(parameters[:2], 1.0)
        scaler.step(ours)
        scaler.step(other)
        scaler.update()
        scaler.state()
        ours.zero_grad()
        other.zero_grad()

    tracemalloc.start()
    for number in range(100):
        step(number)
    gc.collect()
    device_memory, objects = torch.cuda.memory_allocated() if device == "cuda" else 0, len(gc.get_objects())
    before = tracemalloc.get_traced_memory()[0]
    for number in range(400):
        step(number)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 30000 and len(gc.get_objects()) - objects < 100, grown  # one object a step is more
    assert (torch.cuda.memory_allocated() if device == "cuda" else 0) == device_memory
