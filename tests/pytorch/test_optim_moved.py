"""Tensors that get other memory between steps: states, numbers, layouts. A plan has their addresses."""
import math

import pytest
import torch
from optim_reference import gradients, parameters

import fusewright
from fusewright.optim import SGD, AdamW

SHAPES = [(3, 4), (100,), (), (0,)]


def pair(make, shapes=SHAPES, device="cpu"):
    """The same parameters for an optimizer of ours and for torch's."""
    mine, theirs = parameters(shapes, device=device), parameters(shapes, device=device)
    return mine, theirs, make(mine, lr=0.1), torch.optim.AdamW(theirs, lr=0.1)


def check_equal(mine, theirs, optimizer, reference):
    for p, q in zip(mine, theirs):
        assert torch.allclose(p, q, rtol=1e-5, atol=1e-6)
        for name, value in reference.state[q].items():
            assert torch.allclose(optimizer.state[p][name].double(), value.double(), rtol=1e-5, atol=1e-6), name


@pytest.mark.parametrize("arena", [False, True])
@pytest.mark.parametrize("move", ["clone", "through float64", "set_", "to float64"])
def test_states_that_move_are_followed(move, arena, device):
    mine, theirs, optimizer, reference = pair(AdamW, device=device)
    if arena:
        optimizer.use_arena()
    for t in range(9):
        for params in (mine, theirs):
            for p in params:
                p.grad = None
            sum((p * (t + 1)).sum() for p in params).backward()
        optimizer.step()
        reference.step()
        if t in (2, 3, 6):
            for opt in (optimizer, reference):
                for state in opt.state.values():
                    for name, value in state.items():
                        if move == "clone":
                            value.data = value.data.clone()
                        elif move == "through float64":
                            value.data = value.data.double().float()
                        elif move == "set_":
                            value.set_(value.clone())
                        elif name != "step" and opt is optimizer:
                            value.data = value.data.double()
    check_equal(mine, theirs, optimizer, reference)


def test_a_learning_rate_that_moves_is_followed(device):
    for place in {"cpu", torch.device(device).type}:
        lr, p = torch.tensor(0.25, device=place), torch.nn.Parameter(torch.zeros(3, device=device))
        optimizer = SGD([p], lr=lr)
        p.grad = torch.ones_like(p)
        optimizer.step()
        lr.data = torch.tensor(0.5, device=place)
        optimizer.step()
        lr.set_(torch.tensor(1.0, device=place))
        optimizer.step()
        lr.fill_(2.0)
        optimizer.step()
        assert torch.equal(p.detach(), torch.full_like(p, -3.75))


@pytest.mark.parametrize("lr", [torch.tensor(-0.1), torch.tensor(math.nan), torch.tensor([1.0, 2.0])], ids=str)
def test_tensors_that_are_no_learning_rate_are_refused(lr):
    p = torch.nn.Parameter(torch.zeros(3))
    if lr.numel() != 1:
        with pytest.raises(ValueError, match="lr: expected a tensor of one element"):
            SGD([p], lr=lr)
    optimizer = SGD([p], lr=0.1)
    optimizer.param_groups[0]["lr"] = lr
    p.grad = torch.ones_like(p)
    with pytest.raises(RuntimeError, match="lr: expected a"):
        optimizer.step()
    assert torch.equal(p.detach(), torch.zeros(3))


def test_states_follow_the_layout_of_their_parameter(device):
    torch.manual_seed(1)
    models = [torch.nn.Conv2d(3, 4, 3).to(device) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    optimizers = [AdamW(models[0].parameters(), lr=0.01), torch.optim.AdamW(models[1].parameters(), lr=0.01)]
    x = torch.randn(2, 3, 8, 8, device=device)
    for layout in (torch.contiguous_format, torch.channels_last, torch.contiguous_format):
        for model, optimizer in zip(models, optimizers):
            model.to(memory_format=layout)
            for _ in range(2):
                optimizer.zero_grad()
                model(x).square().sum().backward()
                optimizer.step()
    for a, b in zip(*(model.parameters() for model in models)):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_zero_grad_of_an_arena_reaches_gradients_that_left_it(device):
    p = torch.nn.Parameter(torch.zeros(3, device=device))
    optimizer = SGD([p], lr=1.0)
    optimizer.use_arena()
    p.sum().backward()
    optimizer.step()
    for replace in (lambda: setattr(p, "grad", torch.full_like(p, 100.0)), lambda: setattr(p.grad, "data", torch.full_like(p, 100.0))):
        replace()
        optimizer.zero_grad()
        before = p.detach().clone()
        p.sum().backward()
        optimizer.step()
        assert torch.equal(p.detach(), before - 1)


def test_two_arenas_of_one_parameter_take_turns(device):
    p = torch.nn.Parameter(torch.zeros(3, device=device))
    optimizers = [SGD([p], lr=1.0), SGD([p], lr=1.0)]
    for optimizer in optimizers:
        optimizer.use_arena()
    for _ in range(4):
        for optimizer in optimizers:
            optimizer.zero_grad()
            p.sum().backward()
            optimizer.step()
    assert torch.equal(p.detach(), torch.full_like(p, -8.0))


def test_an_op_without_numbers(tmp_path, device):
    file = tmp_path / "plain.fuse"
    file.write_text("op plain over elements { param p;  grad g;  p = p - g }")
    params = parameters(SHAPES, device=device)
    before = [p.detach().clone() for p in params]
    optimizer = fusewright.optim.from_file(file)(params)
    gradients(params, 1)
    optimizer.step()
    assert all(torch.equal(p.detach(), old - p.grad) for p, old in zip(params, before))


def test_gradients_whose_strides_alternate_in_the_same_memory(device):
    """Behind `p.grad = None` the next gradient often has the object and the memory of the last."""
    p = torch.nn.Parameter(torch.zeros(16, 16, device=device))
    optimizer, expected = SGD([p], lr=1.0), torch.zeros(16, 16, dtype=torch.float64, device=device)
    for step in range(40):
        p.grad = None
        values = torch.arange(256.0, device=device).reshape(16, 16)
        p.grad = values.t() if step % 2 else values
        expected -= p.grad.double()
        del values
        optimizer.step()
    assert torch.equal(p.detach().double(), expected)
