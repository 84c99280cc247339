"""Any list of parameters equals them one by one: empty, mixed dtypes, offset views, every order of dimensions."""
import random

import pytest
import torch

from fusewright.optim import SGD, Adam, AdamW, Lion
from optim_reference import bits, copies, everything, gradients, parameters, same

pytestmark = pytest.mark.filterwarnings("ignore:.*lose updates")
DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64]
KINDS = {
    "AdamW": lambda p, **k: AdamW(p, lr=0.01, **k),
    "Adam amsgrad": lambda p, **k: Adam(p, lr=0.01, amsgrad=True, weight_decay=0.1, **k),
    "SGD": lambda p, **k: SGD(p, lr=0.01, momentum=0.9, **k),
    "SGD plain": lambda p, **k: SGD(p, lr=0.01, **k),
    "Lion": lambda p, **k: Lion(p, lr=0.01, **k),
}
LAYOUTS = ["dense", "offset", "transposed", "channels last", "columns", "every second", "backward view"]


def laid_out(shape, layout, dtype, generator):
    """Random numbers in a layout."""
    values = torch.randn(shape, generator=generator).to(dtype)
    if layout == "offset":
        return torch.cat([torch.zeros(1, dtype=dtype), values.flatten()])[1:].view(shape)
    if layout == "transposed" and len(shape) > 1:
        return values.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "channels last" and len(shape) == 4:
        return values.to(memory_format=torch.channels_last)
    if layout == "columns" and len(shape) > 1:  # a view with gaps and a dimension of stride 1
        wide = torch.zeros(*shape[:-1], shape[-1] + 3, dtype=dtype)
        wide[..., 1:-2] = values
        return wide[..., 1:-2]
    if layout == "every second" and len(shape):  # no dimension of stride 1
        wide = torch.zeros(*shape[:-1], 2 * shape[-1], dtype=dtype)
        wide[..., ::2] = values
        return wide[..., ::2]
    return values


def random_parameter(rng, generator, device):
    shape = tuple(rng.choice([0, 1, 1, 2, 3, 5, 8, 17]) if rng.random() < 0.9 else 70 for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4])))
    dtype = rng.choice(DTYPES)
    on_device = laid_out(shape, rng.choice(LAYOUTS), dtype, generator)
    if device != "cpu":
        moved = torch.empty_strided(on_device.shape, on_device.stride(), dtype=dtype, device=device)
        on_device = moved.copy_(on_device)
    return torch.nn.Parameter(on_device)


def random_gradient(rng, generator, p):
    layout = rng.choice(["as the parameter", "dense", "offset", "transposed", "channels last", "expanded"])
    if layout == "expanded":
        return torch.randn((), generator=generator).to(p.dtype).to(p.device).expand(p.shape)
    if layout == "as the parameter":
        flat = torch.randn(p.shape, generator=generator).to(p.dtype).to(p.device)
        return torch.empty_like(p).copy_(flat).detach()
    return laid_out(tuple(p.shape), layout, p.dtype, generator).to(p.device)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_a_list_equals_its_tensors_one_by_one(kind, seed, device):
    rng, generator = random.Random(f"{kind} {seed}"), torch.Generator().manual_seed(seed)
    params = [random_parameter(rng, generator, device) for _ in range(rng.choice([1, 4, 12, 30]))]
    alone = copies(params)  # contiguous, or dense in another order
    optimizer, others = KINDS[kind](params), [KINDS[kind]([p]) for p in alone]
    for step in range(4):
        for p, q, other in zip(params, alone, others):
            if rng.random() < 0.2 and step:
                p.grad = q.grad = None
                continue
            p.grad = random_gradient(rng, generator, p)
            q.grad = torch.empty_like(q).copy_(p.grad).detach()
            other.step()
        optimizer.step()
        for number, (p, q) in enumerate(zip(params, alone)):
            assert same(p, q), f"step {step}, parameter {number}: {p.dtype} {tuple(p.shape)} {p.stride()}"


def test_views_with_gaps_leave_what_lies_between(device):
    wide = torch.full((6, 10), 7.0, device=device)
    p, q = torch.nn.Parameter(wide[:, 1:4]), torch.nn.Parameter(wide[:, 5::2])
    assert p.data_ptr() == wide.data_ptr() + 4
    optimizer = AdamW([p, q], lr=0.1)
    for t in range(3):
        gradients([p, q], t)
        optimizer.step()
    untouched = torch.ones(10, dtype=torch.bool)
    untouched[[1, 2, 3, 5, 7, 9]] = False
    assert torch.all(wide[:, untouched.to(device)] == 7) and torch.all(wide[:, 1:4] != 7)


def test_case_F01(device):
    """Strides of dimensions of one element mean nothing."""
    values = torch.randn(2, 1, 100, generator=torch.Generator().manual_seed(1)).to(device)
    p = torch.nn.Parameter(values.as_strided((2, 1, 100), (100, 100, 1)).clone().as_strided((2, 1, 100), (100, 100, 1)))
    q = torch.nn.Parameter(p.detach().clone())
    p.grad = values.clone().as_strided((2, 1, 100), (100, 1, 1))
    q.grad = values.clone()
    first, second = Adam([p]), Adam([q])
    first.step()
    second.step()
    assert same(p, q) and first.statistics()["gradients_copied"] == 0


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_case_F03(kind, device):
    """5-d channels last: works, and the layout stays."""
    values = torch.randn(2, 3, 4, 5, 6, generator=torch.Generator().manual_seed(1)).to(device)
    p = torch.nn.Parameter(values.to(memory_format=torch.channels_last_3d))
    q = torch.nn.Parameter(values.clone())
    strides = p.stride()
    optimizer, other = KINDS[kind]([p]), KINDS[kind]([q])
    for t in range(3):
        gradients([q], t)
        p.grad = q.grad.to(memory_format=torch.channels_last_3d)
        optimizer.step()
        other.step()
    assert p.stride() == strides and torch.equal(p, q) and optimizer.statistics()["gradients_copied"] == 0
    for name, value in optimizer.state[p].items():
        assert value.dim() == 0 or (value.stride() == strides and torch.equal(value, other.state[q][name]))
    saved = optimizer.state_dict()
    fresh = KINDS[kind]([q])
    fresh.load_state_dict(saved)  # other strides, the same numbers
    assert all(value.dim() == 0 or value.stride() == q.stride() for value in fresh.state[q].values())
    gradients([q], 9)
    p.grad = q.grad.to(memory_format=torch.channels_last_3d)
    optimizer.step()
    fresh.step()
    assert torch.equal(p, q)


def test_gradients_of_other_strides_are_copied_and_counted(device):
    p = torch.nn.Parameter(torch.ones(3, 4, device=device))
    optimizer = SGD([p], lr=1.0)
    p.grad = torch.arange(12.0, device=device).view(4, 3).t()
    optimizer.step()
    assert torch.equal(p, 1 - torch.arange(12.0, device=device).view(4, 3).t())
    p.grad = torch.ones(3, 4, device=device)
    optimizer.step()
    assert optimizer.statistics()["gradients_copied"] == 1


def test_expanded_gradients_of_a_sum(device):
    p = torch.nn.Parameter(torch.zeros(3, 4, device=device))
    optimizer = SGD([p], lr=0.5)
    p.sum().backward()
    assert p.grad.stride() == (0, 0) or p.grad.is_contiguous()
    p.grad = torch.ones((), device=device).expand(3, 4)
    optimizer.step()
    assert torch.all(p == -0.5)


def test_parameters_that_share_memory_with_themselves_are_refused(device):
    p = torch.nn.Parameter(torch.zeros(1, 4, device=device).expand(3, 4))
    p.grad = torch.ones(3, 4, device=device)
    with pytest.raises(RuntimeError, match="elements have memory of their own"):
        SGD([p]).step()


def test_conjugated_and_negated_views_are_read_right():
    """A lazily negated view has the other sign in memory."""
    p = torch.nn.Parameter(torch.zeros(3))
    z = torch.complex(torch.zeros(3), torch.ones(3))
    p.grad = z.conj().imag.contiguous() if not z.conj().imag.is_neg() else torch.empty(3).copy_(z.conj().imag)
    SGD([p], lr=1.0).step()
    assert torch.all(p == 1)
    p.grad = z.conj().imag
    optimizer = SGD([p], lr=1.0)
    try:
        optimizer.step()
    except (RuntimeError, TypeError):
        assert torch.all(p == 1)
    else:
        assert torch.all(p == 2)


@pytest.mark.gpu
def test_cpu_and_gpu_parameters_in_one_optimizer():
    params = parameters([(5,), (6,)]) + parameters([(7,), (8,)], device="cuda")
    alone = copies(params)
    optimizer, others = AdamW(params), [AdamW([p]) for p in alone]
    for t in range(4):
        gradients(params, t)
        for p, q, other in zip(params, alone, others):
            q.grad = p.grad.clone()
            other.step()
        optimizer.step()
    assert all(same(p, q) for p, q in zip(params, alone))
    with pytest.raises(RuntimeError, match="on one device"):
        guarded = AdamW(params, max_norm=1.0)
        guarded.step()


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_gpu_and_cpu_give_the_same_bits(kind):
    params = parameters([(5,), (6, 7), (2, 3, 4, 5)])
    on_gpu = [torch.nn.Parameter(p.detach().cuda()) for p in params]
    first, second = KINDS[kind](params), KINDS[kind](on_gpu)
    for t in range(10):
        gradients(params, t)
        for p, q in zip(params, on_gpu):
            q.grad = p.grad.cuda()
        first.step()
        second.step()
    expected = everything(first)
    assert all(torch.equal(value, expected[name]) for name, value in everything(second).items())


def test_promise_7_under_a_common_norm(device):
    """With a norm of all the list is one decision; the same list in other layouts has the same norm but for its order."""
    params = parameters([(5,), (6, 7), (0,), (2, 3, 4, 5)], device=device)
    others = copies(params)
    others[3].data = others[3].data.to(memory_format=torch.channels_last)
    first, second = AdamW(params, max_norm=0.5), AdamW(others, max_norm=0.5)
    for t in range(3):
        gradients(params, t)
        for p, q in zip(params, others):
            q.grad = p.grad.clone()  # contiguous: copied into the parameter's order
        first.step()
        second.step()
        exact = torch.cat([p.grad.double().flatten() for p in params]).norm()
        for optimizer in (first, second):
            assert optimizer.norm.item() == pytest.approx(exact.item(), rel=1e-6)
    assert all(torch.allclose(p, q, rtol=1e-6, atol=1e-7) for p, q in zip(params, others))
    assert torch.equal(bits(params[2]), bits(others[2]))
