"""Gradients in one buffer: what autograd, users and optimizers do to them, and what the arena finds."""
import copy
import pickle
import warnings

import pytest
import torch

from fusewright import GradientArena
from fusewright.optim import AdamW


class Model(torch.nn.Module):
    """Matrices, a convolution in channels-last layout, a part that is not always used, a tensor without elements."""

    def __init__(self, device="cpu", dtype=torch.float32):
        super().__init__()
        torch.manual_seed(1)
        self.first = torch.nn.Linear(6, 12)
        self.convolution = torch.nn.Conv2d(3, 4, 2).to(memory_format=torch.channels_last)
        self.seldom = torch.nn.Linear(4, 4)
        self.never = torch.nn.Parameter(torch.ones(3))
        self.empty = torch.nn.Parameter(torch.ones(0, 3))
        self.to(device, dtype)

    def forward(self, x, seldom=False):
        y = self.convolution(self.first(x).view(-1, 3, 2, 2)).flatten(1)
        y = y + self.empty.sum()
        return (self.seldom(y) if seldom else y).square().mean()


def batch(step, model):
    generator = torch.Generator().manual_seed(step)
    p = model.first.weight
    return torch.randn(5, 6, generator=generator).to(p.device, p.dtype)


def backward(model, step, seldom=False):
    model(batch(step, model), seldom).backward()


def gradients(model):
    return [None if p.grad is None else p.grad.clone() for p in model.parameters()]


def same(a, b):
    return all((x is None) == (y is None) and (x is None or torch.equal(x, y)) for x, y in zip(a, b))


pytestmark = pytest.mark.filterwarnings("ignore:gradients left their arena")


def in_buffers(arena, model):
    """Which gradients lie in the arena's buffers."""
    spans = [(f.data_ptr(), f.data_ptr() + f.numel() * f.element_size()) for f in arena.buffers]
    places = [None if p.grad is None else p.grad.data_ptr() for p in model.parameters() if p.numel()]
    return [place is not None and any(low <= place < high for low, high in spans) for place in places]


@pytest.fixture
def model(device):
    return Model(device)


def test_views_are_aligned_have_the_strides_of_parameters_and_zeros_between(model):
    arena = GradientArena(model.parameters())
    assert len(arena) == 0 and arena.buffers == ()
    backward(model, 1, seldom=True)
    wanted = gradients(model)
    assert not arena.check()
    assert same(gradients(model), wanted)
    assert in_buffers(arena, model) == [False] + [True] * 6  # `never` is the first
    assert model.never.grad is None
    for p in model.parameters():
        if p.grad is not None and p.numel():
            assert p.grad.data_ptr() % 16 == 0 and p.grad.stride() == p.stride()
    (flat,) = arena.buffers
    total = sum(float(g.double().abs().sum()) for g in wanted if g is not None)
    assert flat.dim() == 1 and float(flat.double().abs().sum()) == pytest.approx(total, rel=1e-12)
    assert arena.nbytes == flat.numel() * 4 and repr(arena) == f"GradientArena(7 of 8 gradients, {arena.nbytes} bytes)"


def test_steps_in_place_are_trusted_without_a_look(model):
    arena = GradientArena(model.parameters())
    answers = []
    for step in range(6):
        backward(model, step)
        answers.append(arena.check())
        arena.zero_()
    assert answers == [False] + [True] * 5
    segment = arena._segments[0]
    assert segment.trusted == 5  # five accumulations of five gradients
    segment.look = None  # so that a look would fail
    backward(model, 7)
    assert arena.check()


def test_accumulation(model):
    arena = GradientArena(model.parameters())
    twin = copy.deepcopy(model)
    for step in range(5):
        for part in range(3):
            backward(model, 10 * step + part)
            backward(twin, 10 * step + part)
        assert arena.check() == (step > 0)
        assert same(gradients(model), gradients(twin))
        arena.zero_()
        twin.zero_grad(set_to_none=False)
        assert same(gradients(model), gradients(twin))


REPLACEMENTS = {
    "model.zero_grad()": lambda model: model.zero_grad(),
    "one is dropped": lambda model: setattr(model.first.weight, "grad", None),
    "one is replaced": lambda model: setattr(model.first.bias, "grad", torch.zeros_like(model.first.bias)),
    "half are dropped, twice as many come": lambda model: [setattr(p, "grad", None) for p in model.first.parameters()],
}


@pytest.mark.parametrize("how", REPLACEMENTS)
def test_replaced_gradients_are_found_and_taken_back(model, how):
    arena = GradientArena(model.parameters())
    for step in range(3):
        backward(model, step)
        arena.check()
        arena.zero_()
    for step in range(4):
        REPLACEMENTS[how](model)
        for part in range(2 if "twice" in how else 1):
            backward(model, 10 * step + part)
        wanted = gradients(model)
        assert not arena.check()
        assert same(gradients(model), wanted)
        assert in_buffers(arena, model).count(True) == 4
        arena.zero_()


def test_the_warning_comes_once(model):
    arena = GradientArena(model.parameters())
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for step in range(8):
            model.zero_grad()
            backward(model, step)
            arena.check()
    assert [str(w.message).partition(" (")[0] for w in seen] == ["gradients left their arena in 3 steps in a row"]


def test_gradients_that_are_gone_stay_gone(model):
    arena = GradientArena(model.parameters())
    backward(model, 1)
    arena.check()
    arena.zero_()
    model.zero_grad()
    assert not arena.check() and all(p.grad is None for p in model.parameters())
    assert arena.check()  # nothing has changed since
    backward(model, 2)
    assert not arena.check() and in_buffers(arena, model).count(True) == 4


def test_newcomers_join(model):
    arena = GradientArena(model.parameters())
    for step in range(3):
        backward(model, step)
        arena.check()
        arena.zero_()
    assert model.seldom.weight.grad is None and len(arena) == 5
    backward(model, 3, seldom=True)
    wanted = gradients(model)
    assert not arena.check() and same(gradients(model), wanted) and len(arena) == 7
    arena.zero_()
    backward(model, 4)  # the seldom part keeps a gradient of zeros, as of zero_grad(set_to_none=False)
    assert arena.check() and not model.seldom.weight.grad.any()


def test_zero_leaves_nothing_behind(model):
    arena = GradientArena(model.parameters())
    backward(model, 1)
    arena.zero_()  # never checked
    assert all(p.grad is None for p in model.parameters())
    backward(model, 2)
    arena.check()
    model.first.weight.grad = None
    backward(model, 3, seldom=True)
    arena.zero_()
    assert all(p.grad is None or not p.grad.any() for p in model.parameters())
    backward(model, 4)
    wanted = Model(model.first.weight.device)
    wanted.load_state_dict(model.state_dict())
    backward(wanted, 4)
    arena.check()
    for p, q in zip(model.parameters(), wanted.parameters()):
        assert p.grad is None or (not p.grad.any() if q.grad is None else torch.equal(p.grad, q.grad))


def test_create_graph_replaces_and_is_found(model):
    arena = GradientArena(model.parameters())
    backward(model, 1)
    arena.check()
    loss = model(batch(2, model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of cycles
        loss.backward(create_graph=True)
    wanted = gradients(model)
    assert not arena.check() and same(gradients(model), wanted) and in_buffers(arena, model).count(True) == 4
    assert not any(p.grad.requires_grad for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize(
    "move", [lambda m: m.double(), lambda m: m.to(torch.bfloat16), pytest.param(lambda m: m.cuda(), marks=pytest.mark.gpu)]
)
def test_a_model_that_moves_takes_its_arena_along(move):
    model = Model()
    arena = GradientArena(model.parameters())
    backward(model, 1)
    arena.check()
    arena.zero_()
    move(model)
    backward(model, 2)
    wanted = gradients(model)
    assert not arena.check(full=True)
    assert same(gradients(model), wanted) and in_buffers(arena, model).count(True) == 4
    p = model.first.weight
    assert [(f.dtype, f.device) for f in arena.buffers] == [(p.dtype, p.device)]


def test_a_look_at_least_every_hundred_steps(model):
    arena = GradientArena(model.parameters())
    for step in range(2):
        backward(model, step)
        arena.check()
        arena.zero_()
    # Four foreign writes hide four missing accumulations, and one more gradient that was replaced.
    found = []
    for _ in range(100):
        model.first.weight.grad = torch.ones_like(model.first.weight)
        arena.buffers[0].add_(0)
        for _ in range(4):
            arena.buffers[0].add_(0)
        found.append(not arena.check())
    assert found == [False] * 97 + [True] * 3  # its hundredth check; from then on it looks each time
    debugging = GradientArena(model.parameters(), debug=True)
    debugging.check()
    for step in range(3):
        debugging.zero_()
        backward(model, step)
        assert debugging.check()
        model.first.weight.grad = torch.ones_like(model.first.weight)
        assert not debugging.check()


def test_attach_gives_all_a_place_at_once(model):
    model.never.requires_grad_(False)
    arena = GradientArena(model.parameters(), attach=True)
    assert len(arena) == 7 and model.never.grad is None
    assert all(not p.grad.any() for p in model.parameters() if p.requires_grad)
    backward(model, 1)
    wanted = Model(model.first.weight.device)
    backward(wanted, 1)
    arena.check()
    for p, q in zip(model.parameters(), wanted.parameters()):
        assert q.grad is None or torch.equal(p.grad, q.grad)
    assert len(arena.buffers) == 1 and in_buffers(arena, model).count(True) == 6


def test_detach_gives_gradients_their_own_memory(model):
    arena = GradientArena(model.parameters())
    backward(model, 1)
    arena.check()
    wanted = gradients(model)
    arena.detach()
    assert arena.buffers == () and same(gradients(model), wanted)
    kept = [p.grad for p in model.parameters() if p.grad is not None and p.numel()]
    assert len({gradient.untyped_storage().data_ptr() for gradient in kept}) == 4
    assert not arena.check() and len(arena) == 5


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_arenas_over_the_copied_parameters(copied):
    model = Model()
    arena = GradientArena(model.parameters())
    backward(model, 1)
    arena.check()
    twin, twins_arena = copied((model, arena))
    assert len(twins_arena) == 0 and twins_arena._parameters[0] is list(twin.parameters())[0]
    twin.zero_grad()
    backward(twin, 1)
    twins_arena.check()
    assert same(gradients(twin), gradients(model)) and in_buffers(twins_arena, twin).count(True) == 4
    assert in_buffers(arena, model).count(True) == 4


def test_dtypes_have_buffers_of_their_own(device):
    f32, bf16, f64 = torch.float32, torch.bfloat16, torch.float64
    kinds = [(3, f32), (5, bf16), (1, f32), (2, f64), (9, bf16)]
    parameters = [torch.nn.Parameter(torch.ones(n, dtype=dtype, device=device)) for n, dtype in kinds]
    for p in parameters:
        p.grad = torch.full_like(p, 2.0)
    arena = GradientArena(parameters)
    arena.check()
    assert {f.dtype: f.numel() for f in arena.buffers} == {bf16: 24, f32: 8, f64: 2}
    assert [p.grad.tolist() for p in parameters] == [[2.0] * p.numel() for p in parameters]


@pytest.mark.parametrize(
    "given, error, text",
    [
        ([torch.ones(2, dtype=torch.int64)], TypeError, "expected parameters of a real floating-point dtype, got torch.int64"),
        ([torch.ones(2, dtype=torch.complex64)], TypeError, "got torch.complex64"),
        (["weight"], TypeError, "got str"),
        ([torch.nn.Parameter(torch.ones(2))] * 2, ValueError, r"expected each parameter once, got one of shape \(2,\) again"),
    ],
)
def test_what_is_refused(given, error, text):
    with pytest.raises(error, match=text):
        GradientArena(given)


def test_sparse_gradients_are_refused_and_nothing_is_lost(device):
    embedding, linear = torch.nn.Embedding(6, 3, sparse=True).to(device), torch.nn.Linear(3, 1).to(device)
    arena = GradientArena([*linear.parameters(), *embedding.parameters()])
    linear(embedding(torch.tensor([1, 2], device=device))).sum().backward()
    with pytest.raises(TypeError, match="expected dense gradients, got one of layout torch.sparse_coo"):
        arena.check()
    assert embedding.weight.grad.is_sparse and linear.bias.grad.tolist() == [2.0]


# ---- With optimizers


def steps(model, optimizer, count=25, zero=True, seldom=range(7, 20), drop=()):
    for step in range(count):
        for part in range(1 + step % 2):
            backward(model, 10 * step + part, step in seldom)
        optimizer.step()
        if step in drop:
            model.zero_grad()
        elif zero:
            optimizer.zero_grad(set_to_none=False)
    return [p.detach().clone() for p in model.parameters()]


@pytest.mark.parametrize("options", [{}, {"max_norm": 0.05}, {"zero_gradients": True}], ids=str)
@pytest.mark.parametrize("drop", [(), (5, 6, 12)])
def test_optimizers_of_the_package_step_as_without(device, options, drop):
    plain, model = Model(device), Model(device)
    wanted = steps(plain, AdamW(plain.parameters(), lr=0.01, **options), drop=drop)
    optimizer = AdamW(model.parameters(), lr=0.01, **options)
    arena = optimizer.use_arena()
    found = steps(model, optimizer, drop=drop, zero=not options.get("zero_gradients"))
    assert all(torch.equal(p, q) for p, q in zip(found, wanted))
    assert in_buffers(arena, model).count(True) == 6


def test_groups_that_come_later_are_in_it(device):
    plain, model = Model(device), Model(device)
    results = []
    for each in (plain, model):
        optimizer = AdamW(each.first.parameters(), lr=0.01)
        arena = optimizer.use_arena() if each is model else None
        steps(each, optimizer, count=4, seldom=())
        optimizer.add_param_group({"params": [*each.convolution.parameters(), *each.seldom.parameters()], "lr": 0.1})
        results.append(steps(each, optimizer, count=6, seldom=(3, 4)))
    assert all(torch.equal(p, q) for p, q in zip(*results))
    assert len(arena) == 6


def test_a_copied_optimizer_has_an_arena_of_its_own(device):
    model = Model(device)
    optimizer = AdamW(model.parameters(), lr=0.01)
    optimizer.use_arena()
    steps(model, optimizer, count=4)
    twin, other = copy.deepcopy((model, optimizer))
    assert all(torch.equal(p, q) for p, q in zip(steps(model, optimizer, count=4), steps(twin, other, count=4)))


def test_torchs_optimizers_step_as_without(device):
    plain, model = Model(device), Model(device)
    wanted = steps(plain, torch.optim.AdamW(plain.parameters(), lr=0.01))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    arena = GradientArena(optimizer)
    for step in range(25):
        for part in range(1 + step % 2):
            backward(model, 10 * step + part, step in range(7, 20))
        arena.check()
        optimizer.step()
        arena.zero_()
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), wanted))
