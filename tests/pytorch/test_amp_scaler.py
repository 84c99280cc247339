"""GradScaler: torch's interface and errors, and what it has beyond that."""
import copy
import math
import pickle
import warnings

import pytest
import torch

from fusewright.amp import GradScaler
from fusewright.optim import SGD as OurSGD

SGDS = [torch.optim.SGD, OurSGD]


def scaled(scaler, optimizer, value=1.0):
    """Gradients of a loss that the scaler has scaled."""
    optimizer.zero_grad()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    scaler.scale(sum((p * value).sum() for p in parameters)).backward()


def trainer(device="cpu", kind=torch.optim.SGD, sizes=(3, 2), **options):
    parameters = [torch.nn.Parameter(torch.ones(n, device=device)) for n in sizes]
    return GradScaler(device, **options), kind(parameters, lr=0.5), parameters


def skip(scaler, optimizer, bad=math.inf, tensor=0):
    scaled(scaler, optimizer)
    optimizer.param_groups[0]["params"][tensor].grad[0] = bad
    scaler.step(optimizer)
    scaler.update()


# ---- scale


def test_scale_keeps_containers_and_multiplies(device):
    scaler = GradScaler(device, init_scale=8.0)
    x = torch.arange(3.0, device=device, requires_grad=True)
    assert torch.equal(scaler.scale(x), 8 * x)
    nested = scaler.scale([x, (2 * x, [x.half()])])
    assert type(nested) is list and type(nested[1]) is tuple and type(nested[1][1]) is list
    assert torch.equal(nested[1][0], 16 * x) and nested[1][1][0].dtype == torch.float16
    lazy = scaler.scale(t for t in (x, x))
    assert [torch.equal(t, 8 * x) for t in lazy] == [True, True]
    scaler.scale(x).sum().backward()
    assert x.grad.tolist() == [8.0] * 3
    for wrong in (3.0, "loss", None):
        with pytest.raises(ValueError, match="expected a tensor or an iterable of tensors"):
            scaler.scale(wrong)


def test_a_backward_behind_the_update_is_refused_by_autograd():
    scaler, optimizer, (p, _) = trainer()
    late = scaler.scale((p * p).sum())
    scaled(scaler, optimizer)
    scaler.step(optimizer)
    scaler.update()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        late.backward()


# ---- Errors, of torch's kinds


@pytest.mark.parametrize("kind", SGDS)
def test_order_of_calls(kind):
    scaler, optimizer, _ = trainer(kind=kind)
    for call in (lambda: scaler.step(optimizer), lambda: scaler.unscale_(optimizer), scaler.update):
        with pytest.raises(AssertionError, match="expected scale\\(\\) before"):
            call()
    scaled(scaler, optimizer)
    with pytest.raises(AssertionError, match="expected step\\(\\) or unscale_\\(\\) before update"):
        scaler.update()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="got a second one; its gradients are divided already"):  # C09
        scaler.unscale_(optimizer)
    assert optimizer.param_groups[0]["params"][0].grad.tolist() == [1.0] * 3
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="expected one step\\(\\)"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="got it behind step\\(\\)"):
        scaler.unscale_(optimizer)
    scaler.update()
    scaled(scaler, optimizer)
    for closure in ({"closure": lambda: None}, {}):
        with pytest.raises(RuntimeError, match="expected a step without closure"):
            scaler.step(optimizer, *([] if closure else [lambda: None]), **closure)
    optimizer.zero_grad()
    with pytest.raises(AssertionError, match="got none in any of the optimizer's parameters"):
        scaler.step(optimizer)


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"growth_factor": 1.0}, AssertionError, "growth_factor: expected a number > 1, got 1.0"),
        ({"backoff_factor": 1.0}, AssertionError, "backoff_factor: expected a number in"),
        ({"backoff_factor": 0.0}, AssertionError, "backoff_factor: expected a number in"),
        ({"growth_interval": 0}, ValueError, "growth_interval: expected a whole number >= 1, got 0"),
        ({"hysteresis": 0}, ValueError, "hysteresis: expected a whole number >= 1, got 0"),
        ({"refill": "never"}, ValueError, 'refill: expected "clean" or "growth", got "never"'),
        ({"mode": "loss"}, ValueError, 'mode: expected "dynamic" or "static", got "loss"'),
        ({"init_scale": 4.0, "min_scale": 8.0}, ValueError, "init_scale: expected a number from min_scale, 8.0"),
        ({"init_scale": 4.0, "max_scale": 2.0}, ValueError, "to max_scale, 2.0, got 4.0"),
    ],
)
def test_options_are_checked_at_once(options, error, text):
    with pytest.raises(error, match=text):
        GradScaler("cpu", **options)


@pytest.mark.parametrize("kind", SGDS)
def test_a_closure_of_none_is_none(kind):
    scaler, optimizer, (p, _) = trainer(kind=kind)
    for arguments, named in (([None], {}), ([], {"closure": None})):
        scaled(scaler, optimizer)
        scaler.step(optimizer, *arguments, **named)
        scaler.update()
    assert p.tolist() == [0.0] * 3


def test_float16_gradients_are_not_unscaled_in_place():
    parameter = torch.nn.Parameter(torch.ones(4, dtype=torch.float16))
    scaler, optimizer = GradScaler("cpu", init_scale=8.0), torch.optim.SGD([parameter], lr=0.5)
    scaler.scale(parameter.float().sum()).backward()
    with pytest.raises(ValueError, match="got float16, in which small ones vanish"):
        scaler.unscale_(optimizer)
    assert parameter.grad.tolist() == [8.0] * 4
    fused = OurSGD([parameter], lr=0.5)
    scaler.step(fused)
    scaler.update()
    assert parameter.tolist() == [0.5] * 4


def test_torchs_scaler_is_refused_for_a_claimed_optimizer():
    ours, optimizer, _ = trainer(kind=OurSGD)
    theirs = torch.amp.GradScaler("cpu")
    scaled(ours, optimizer)
    ours.unscale_(optimizer)
    theirs.scale(torch.zeros(()))
    with pytest.raises(RuntimeError, match="expected one scaler for an optimizer, got torch.amp.GradScaler"):
        theirs.step(optimizer)
    ours.step(optimizer)
    ours.update()
    scaled(theirs, optimizer)
    theirs.step(optimizer)
    theirs.update()
    assert optimizer.param_groups[0]["params"][0].tolist() == [0.0] * 3


# ---- Disabled


def test_disabled_does_nothing():
    scaler, optimizer, (p, _) = trainer(enabled=False)
    x = torch.ones(2)
    assert scaler.scale(x) is x and not scaler.is_enabled() and scaler.get_scale() == 1.0
    scaled(scaler, optimizer)
    scaler.unscale_(optimizer)
    assert p.grad.tolist() == [1.0] * 3
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == [0.5] * 3 and scaler.state_dict() == {}
    scaler.load_state_dict({})
    assert scaler.state().applied and scaler._get_growth_tracker() == 0
    assert not pickle.loads(pickle.dumps(scaler)).is_enabled()


def test_without_a_gpu_a_scaler_for_one_is_disabled(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.warns(UserWarning, match="expected a CUDA device, got none"):
        scaler = GradScaler()
    assert not scaler.is_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GradScaler(enabled=False)


def test_it_is_a_torch_scaler():
    assert isinstance(GradScaler("cpu"), torch.amp.GradScaler)


# ---- Whether a step was applied


@pytest.mark.parametrize("kind", SGDS)
def test_state_tells_what_happened(device, kind):
    scaler, optimizer, _ = trainer(device, kind, (3, 2, 4), init_scale=16.0)
    first = scaler.state()
    assert first.applied and first.updates == 0 and first.scale == 16.0
    scaled(scaler, optimizer)
    scaler.step(optimizer)
    scaler.update()
    state = scaler.state(wait=True)
    assert (state.outcome, state.tensor, state.parameter, state.updates, state.skips) == ("applied", None, None, 1, 0)
    skip(scaler, optimizer, math.nan, tensor=2)
    skip(scaler, optimizer, tensor=1)
    state = scaler.state(wait=True)
    assert (state.outcome, state.tensor, state.parameter) == ("bad_gradient", 1, "group 0, parameter 1")
    assert (state.updates, state.skips, state.skips_in_a_row, state.scale, state.previous_scale) == (3, 2, 2, 4.0, 8.0)
    assert not state.applied


@pytest.mark.parametrize("kind", SGDS)
def test_state_names_the_parameter(kind):
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
    optimizer, scaler = kind(model.parameters(), lr=0.1), GradScaler("cpu")
    model[0].bias.requires_grad_(False)  # has no gradient and no number
    scaler.name_parameters(model.named_parameters())
    scaler.scale(model(torch.ones(1, 3)).sum()).backward()
    model[1].weight.grad[0, 1] = math.inf
    scaler.step(optimizer)
    scaler.update()
    assert (scaler.state().tensor, scaler.state().parameter) == (1, "1.weight")


@pytest.mark.parametrize("kind", SGDS)
def test_state_takes_names_of_the_optimizer(kind):
    model = torch.nn.Linear(3, 2)
    optimizer, scaler = kind(model.parameters(), lr=0.1), GradScaler("cpu")
    optimizer.param_groups[0]["param_names"] = ["weight", "bias"]  # as torch 2.6 does with named parameters
    scaler.scale(model(torch.ones(1, 3)).sum()).backward()
    model.bias.grad[1] = math.inf
    scaler.step(optimizer)
    scaler.update()
    assert scaler.state().parameter == "bias"


@pytest.mark.parametrize("kind", SGDS)
def test_state_keeps_no_optimizer_alive(kind):
    import gc
    import weakref

    scaler, optimizer, parameters = trainer(kind=kind)
    skip(scaler, optimizer)
    gone = [weakref.ref(x) for x in (optimizer, *parameters)]
    del optimizer, parameters
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3
    assert scaler.state().tensor == 0 and scaler.state().parameter is None


# ---- How the scale moves


def test_growth_that_overflows_is_refused():  # C03
    scaler, optimizer, (p, _) = trainer(init_scale=2.0**127, growth_interval=1)
    scaled(scaler, optimizer, 2.0**-127)
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0**127 and p.tolist() == [1 - 0.5 * 2.0**-127] * 3


def test_without_a_floor_the_scale_goes_under_1():  # C05
    scaler, optimizer, _ = trainer(init_scale=2.0, min_scale=0.0)
    scales = []
    for _ in range(4):
        skip(scaler, optimizer)
        scales.append(scaler.get_scale())
    assert scales == [1.0, 0.5, 0.25, 0.125]


@pytest.mark.parametrize("refill, left", [("clean", [2, 1, 3, 2, 1, 0]), ("growth", [2, 1, 1, 0, 0, 0])])
def test_hysteresis(refill, left):  # C07
    scaler, optimizer, _ = trainer(hysteresis=3, refill=refill)
    seen, scales = [], []
    for bad in (True, True, False, True, True, True):
        if bad:
            skip(scaler, optimizer)
        else:
            scaled(scaler, optimizer)
            scaler.step(optimizer)
            scaler.update()
        seen.append(scaler.state().hysteresis_left)
        scales.append(scaler.get_scale())
    assert seen == left
    halvings = [bad and n == 0 for n, bad in zip(left, (True, True, False, True, True, True))]
    assert scales == [65536.0 * 0.5 ** sum(halvings[: i + 1]) for i in range(6)]


def test_floor_ceiling_and_static():
    low, optimizer, _ = trainer(init_scale=4.0, min_scale=2.0)
    for _ in range(3):
        skip(low, optimizer)
    assert low.get_scale() == 2.0
    high, optimizer, _ = trainer(init_scale=4.0, max_scale=8.0, growth_interval=1)
    for _ in range(3):
        scaled(high, optimizer)
        high.step(optimizer)
        high.update()
    assert high.get_scale() == 8.0
    static, optimizer, _ = trainer(init_scale=4.0, mode="static")
    skip(static, optimizer)
    assert static.get_scale() == 4.0 and static.state().skips == 1


def test_update_sets_a_scale(device):
    scaler, optimizer, (p, _) = trainer(device, init_scale=4.0)
    scaled(scaler, optimizer)
    scaler.unscale_(optimizer)
    scaler.update(32.0)
    assert scaler.get_scale() == 32.0
    scaler.update(torch.tensor([64.0], device=device))
    assert scaler.get_scale() == 64.0 and scaler.scale(torch.ones((), device=device)).item() == 64.0
    for wrong in (torch.ones(2, device=device), torch.ones(1, device=device, requires_grad=True), torch.ones(1, device="meta")):
        with pytest.raises(AssertionError, match="new_scale: expected a number, or a tensor of 1 element"):
            scaler.update(wrong)
    with pytest.raises(ValueError, match="new_scale: expected a finite number >= 0, got inf"):
        scaler.update(math.inf)
    scaled(scaler, optimizer)  # unscale_ before update(new_scale) is forgotten
    scaler.unscale_(optimizer)
    assert p.grad.tolist() == [1.0] * 3


def test_setters_change_what_comes():
    scaler, optimizer, _ = trainer(init_scale=16.0)
    skip(scaler, optimizer)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_factor(4.0)
    scaler.set_growth_interval(1)
    assert (scaler.get_backoff_factor(), scaler.get_growth_factor(), scaler.get_growth_interval()) == (0.25, 4.0, 1)
    skip(scaler, optimizer)
    assert scaler.get_scale() == 2.0 and scaler.state().skips == 2
    scaled(scaler, optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 8.0
    with pytest.raises(AssertionError, match="growth_factor"):
        scaler.set_growth_factor(0.5)
    assert scaler.get_growth_factor() == 4.0


# ---- Several optimizers


def test_each_optimizer_decides_and_the_scale_takes_all():
    scaler = GradScaler("cpu", init_scale=8.0)
    parameters = [torch.nn.Parameter(torch.ones(2)) for _ in range(12)]
    optimizers = [(OurSGD if i % 2 else torch.optim.SGD)([p], lr=0.5) for i, p in enumerate(parameters)]
    for bad in (0, 7, 10, 11):
        before = [p.tolist() for p in parameters]
        for optimizer in optimizers:
            scaled(scaler, optimizer)
        parameters[bad].grad[1] = math.nan
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
        changed = [p.tolist() != old for p, old in zip(parameters, before)]
        assert changed == [i != bad for i in range(12)]
        assert scaler.state().outcome == "bad_gradient" and scaler.state().tensor == 0
    assert scaler.get_scale() == 0.5


# ---- Checkpoints


def history(scaler, optimizer, pattern):
    for bad in pattern:
        if bad:
            skip(scaler, optimizer)
        else:
            scaled(scaler, optimizer)
            scaler.step(optimizer)
            scaler.update()
    return scaler


@pytest.mark.parametrize(
    "source, target", [(GradScaler, torch.amp.GradScaler), (torch.amp.GradScaler, GradScaler), (GradScaler, GradScaler)]
)
def test_states_are_exchanged_with_torch(source, target):
    options = {"init_scale": 1024.0, "growth_interval": 4, "growth_factor": 3.0, "backoff_factor": 0.3}
    _, optimizer, _ = trainer()
    old, new = source("cpu", **options), target("cpu")
    history(old, optimizer, [0, 0, 1, 0, 0, 0, 0, 1, 0, 0])
    for is_made in (False, True):  # loaded before the first loss, and behind it
        if is_made:
            new = target("cpu")
            history(new, optimizer, [0, 1])
        new.load_state_dict(old.state_dict())
        for name in ("scale", "growth_factor", "backoff_factor", "growth_interval"):
            assert getattr(new, "get_" + name)() == getattr(old, "get_" + name)(), name
        assert new._get_growth_tracker() == old._get_growth_tracker() == 2
        twin = copy.deepcopy(old)
        for bad in (0, 0, 1, 0):
            history(new, optimizer, [bad])
            history(twin, optimizer, [bad])
            assert (new.get_scale(), new._get_growth_tracker()) == (twin.get_scale(), twin._get_growth_tracker())


def test_a_state_has_torchs_names_and_all_numbers():
    scaler, optimizer, _ = trainer(hysteresis=2)
    history(scaler, optimizer, [0, 1, 0, 1, 1])
    state = scaler.state_dict()
    assert {*state} == {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker", "fusewright"}
    twin = GradScaler("cpu", hysteresis=2)
    twin.load_state_dict(state)
    history(twin, optimizer, [])
    twin.scale(torch.ones(()))
    assert twin.state()[3:] == scaler.state()[3:] and twin.state_dict() == state


def test_missing_entries_keep_their_values():
    scaler, optimizer, _ = trainer(init_scale=64.0, growth_factor=3.0)
    history(scaler, optimizer, [0, 0])
    scaler.load_state_dict({"scale": 0.1})
    assert scaler.get_scale() == torch.tensor(0.1).item()
    assert scaler.get_growth_factor() == 3.0 and scaler._get_growth_tracker() == 2
    with pytest.raises(RuntimeError, match="got an empty dict"):
        scaler.load_state_dict({})


def test_an_interval_beyond_exact_counts_is_kept():
    scaler, optimizer, _ = trainer(growth_interval=10**9)
    history(scaler, optimizer, [0, 0])
    assert scaler.get_growth_interval() == 10**9 and scaler.state_dict()["growth_interval"] == 10**9


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda scaler: pickle.loads(pickle.dumps(scaler))])
def test_copies_between_updates_alone(copied):
    scaler, optimizer, _ = trainer(init_scale=32.0, hysteresis=2)
    history(scaler, optimizer, [0, 1])
    twin = copied(scaler)
    assert twin.get_scale() == 32.0
    for each in (scaler, twin):
        history(each, optimizer, [1])
    assert twin.state()[3:] == scaler.state()[3:] and twin.get_scale() == 16.0
    assert copied(GradScaler("cpu", init_scale=4.0)).get_scale() == 4.0
    scaled(scaler, optimizer)
    scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="call update\\(\\) first"):
        copied(scaler)
