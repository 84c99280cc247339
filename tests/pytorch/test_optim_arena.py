"""Optimizers whose gradients live in an arena."""
import pytest
import torch

import fusewright
from fusewright.optim import SGD, AdamW
from optim_reference import copies, gradients, parameters, same


def backward(params, t):
    """Gradients by autograd, which accumulates in place where one is there."""
    random = torch.Generator().manual_seed(t)
    loss = sum((p * torch.randn(p.shape, generator=random).to(p.device)).sum() for p in params if p.numel())
    loss.backward()


@pytest.mark.parametrize("features", [{}, {"max_norm": 0.5, "guard": True}, {"zero_gradients": True}], ids=str)
def test_steps_with_an_arena_have_the_bits_of_others(features, device):
    params = parameters([(3, 5), (7,), (2, 3, 4, 5)], device=device)
    alone = copies(params)
    first, second = AdamW(params, lr=0.1, **features), AdamW(alone, lr=0.1, **features)
    arena = first.use_arena()
    assert isinstance(arena, fusewright.GradientArena)
    for t in range(12):
        if t == 6:  # replaced before the backward pass: found, and used
            for members in (params, alone):
                members[1].grad = torch.ones_like(members[1])
        backward(params, t)
        backward(alone, t)
        if t == 7:  # replaced behind it: only a full look finds that
            for members in (params, alone):
                members[1].grad = torch.ones_like(members[1])
            arena.check(full=True)
        if t == 8:
            first.load_state_dict(first.state_dict())
        first.step()
        second.step()
        assert all(same(p, q) for p, q in zip(params, alone)), t
        if "zero_gradients" not in features:
            first.zero_grad()
        second.zero_grad()
        assert all(p.grad is not None and not p.grad.any() for p in params)


def test_parameters_that_join_late_are_taken_in(device):
    params = parameters([(3, 5), (7,)], device=device)
    alone = copies(params)
    first, second = SGD(params[:1], lr=0.1, momentum=0.9), SGD(alone[:1], lr=0.1, momentum=0.9)
    arena = first.use_arena()
    for t in range(6):
        if t == 3:
            first.add_param_group({"params": [params[1]], "lr": 0.2})
            second.add_param_group({"params": [alone[1]], "lr": 0.2})
        backward(params, t)
        backward(alone, t)
        first.step()
        second.step()
        first.zero_grad()
        second.zero_grad()
        if t < 3:
            params[1].grad = alone[1].grad = None
        assert all(same(p, q) for p, q in zip(params, alone)), t
    assert len(arena) == 2
    first.leave_arena()
    gradients(params, 9)
    gradients(alone, 9)
    first.step()
    second.step()
    assert all(same(p, q) for p, q in zip(params, alone))


def test_an_arena_of_one_own_makes_one_plan(device):
    params = parameters([(3, 5), (7,)], device=device)
    optimizer = AdamW(params)
    arena = optimizer.use_arena(fusewright.GradientArena(params, attach=True))
    for t in range(150):
        backward(params, t)
        optimizer.step()
        optimizer.zero_grad()
    assert optimizer.statistics()["plans_made"] == 1 and len(arena) == 2


@pytest.mark.parametrize("meddle", ["another optimizer", "check", "attach", "zero_"])
def test_what_others_find_in_the_arena_is_not_lost(meddle, device):
    """A gradient that comes while somebody else looks at the arena is stepped all the same."""
    params = parameters([(5,), (5,), (5,)], device=device)
    alone = copies(params)
    first, other = SGD(params[1:], lr=0.1), SGD(params[:1], lr=0.1)
    second = SGD(alone, lr=0.1)
    arena = first.use_arena(fusewright.GradientArena(params))
    other.use_arena(arena)
    for t in range(8):
        used = slice(None) if t >= 4 else slice(2)
        if t == 4 and meddle == "attach":
            arena.attach()
        if t == 4 and meddle == "zero_":  # a pass that nobody steps
            backward(params, 99)
            first.zero_grad()
        backward(params[used], t)
        backward(alone[used], t)
        if meddle == "check":
            arena.check(full=t % 2 == 0)
        other.step()
        first.step()
        second.step()
        assert all(same(p, q) for p, q in zip(params, alone)), t
        first.zero_grad()
        second.zero_grad()


def test_scaled_and_plain_steps_see_what_the_others_have_moved(device):
    """Each kind of step has a plan of its own, which has looked when it was its turn."""
    params = parameters([(5,), (7,)], device=device)
    alone = copies(params)
    first, second = SGD(params, lr=0.1), SGD(alone, lr=0.1)
    arena = first.use_arena()
    scaler = fusewright.amp.GradScaler(device, init_scale=1.0, growth_interval=1000)
    for t in range(12):
        if t == 5:
            arena.detach()
        backward(alone, t)
        backward(params, t)
        if t in (0, 1, 2, 6, 7):
            scaler.scale(torch.ones((), device=device))
            scaler.step(first)
            scaler.update()
        else:
            first.step()
        second.step()
        assert all(same(p, q) for p, q in zip(params, alone)), t
        first.zero_grad()
        second.zero_grad()
