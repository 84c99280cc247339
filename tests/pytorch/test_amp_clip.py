"""clip_grad_norm_ and clip_grad_value_ beside those of torch in float64."""
import gc
import math
import weakref

import pytest
import torch

import fusewright
from fusewright.amp import clip, clip_grad_norm_, clip_grad_value_

DTYPES = {
    "float32": [torch.float32],
    "float64": [torch.float64],
    "bfloat16": [torch.bfloat16],
    "mixed": [torch.float32, torch.bfloat16, torch.float16],
    "with float64": [torch.float64, torch.float32],
}
# Of a result that is rounded once to the dtype, and of the norm.
RELATIVE = {torch.float64: 1e-6, torch.float32: 2e-6, torch.bfloat16: 2**-8, torch.float16: 2**-10}


def made(device, dtypes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    parameters = []
    for number, shape in enumerate([(7, 5), (0, 3), (1,), (2, 3, 4, 5), (70000,), (3,)]):
        p = torch.nn.Parameter(torch.zeros(shape, dtype=dtypes[number % len(dtypes)], device=device))
        if number != 5:  # has no gradient
            gradient = torch.randn(shape, generator=generator).to(p)
            p.grad = gradient.to(memory_format=torch.channels_last) if p.dim() == 4 else gradient
        parameters.append(p)
    return parameters


def exact(parameters):
    """The same gradients in float64."""
    copies = []
    for p in parameters:
        q = torch.nn.Parameter(p.detach().double())
        q.grad = None if p.grad is None else p.grad.to(torch.float64, copy=True)
        copies.append(q)
    return copies


def compare(parameters, wanted, norm=None, wanted_norm=None, factor=1.0):
    for p, q in zip(parameters, wanted):
        assert (p.grad is None) == (q.grad is None)
        if p.grad is not None:
            relative = RELATIVE[p.grad.dtype] * factor
            tiny = torch.finfo(p.grad.dtype).smallest_normal
            torch.testing.assert_close(p.grad.double(), q.grad, rtol=relative, atol=tiny, equal_nan=True)
    if norm is not None:
        assert norm.shape == () and norm.device.type == parameters[0].device.type
        torch.testing.assert_close(norm.double().cpu(), wanted_norm.double().cpu(), rtol=2e-6 * factor, atol=0, equal_nan=True)


@pytest.mark.parametrize("order", [2, 2.0, 1, math.inf, 3, 0.5])
@pytest.mark.parametrize("dtypes", DTYPES)
def test_norms_are_those_of_torch_in_float64(device, dtypes, order):
    for max_norm in (0.5, 1e6):
        parameters = made(device, DTYPES[dtypes])
        wanted = exact(parameters)
        before = [None if p.grad is None else p.grad.clone() for p in parameters]
        norm = clip_grad_norm_(parameters, max_norm, order)
        compare(parameters, wanted_of(wanted, max_norm, order), norm, wanted_of.norm, 1 if order in (1, 2, math.inf) else 8)
        assert norm.dtype == (torch.float64 if torch.float64 in DTYPES[dtypes] else torch.float32)
        if max_norm > norm:
            assert all(g is None or torch.equal(p.grad, g) for p, g in zip(parameters, before))


def wanted_of(parameters, max_norm, order):
    """What torch makes of them; its infinity norm refuses tensors without elements."""
    wanted_of.norm = torch.nn.utils.clip_grad_norm_([p for p in parameters if p.numel()], max_norm, order)
    return parameters


def test_a_plan_follows_gradients_that_come_go_and_move(device):
    parameters = made(device, [torch.float32])
    for step in range(6):
        for i, p in enumerate(parameters):
            p.grad = None if (i + step) % 4 == 0 else torch.full_like(p, 1.0 + i + step)
        wanted = exact(parameters)
        norm = clip_grad_norm_(iter(parameters), 1.5)
        compare(parameters, wanted_of(wanted, 1.5, 2), norm, wanted_of.norm)
    for p in parameters:
        p.data = p.data.double()
        p.grad = torch.ones_like(p)
    wanted = exact(parameters)
    norm = clip_grad_norm_(parameters, 1.5)
    compare(parameters, wanted_of(wanted, 1.5, 2), norm, wanted_of.norm)


def test_norm_stays_when_the_next_is_made(device):
    parameters = made(device, [torch.float32])
    first = clip_grad_norm_(parameters, 1e9)
    value = first.item()
    parameters[4].grad.zero_()
    assert clip_grad_norm_(parameters, 1e9).item() < value == first.item()


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite(device, bad):
    parameters = made(device, [torch.float32])
    parameters[0].grad[1, 1] = bad
    before = [None if p.grad is None else p.grad.clone() for p in parameters]
    with pytest.raises(RuntimeError, match="expected a finite norm of order 2, got"):
        clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)
    assert all(g is None or torch.equal(p.grad, g) or math.isnan(bad) for p, g in zip(parameters, before))
    wanted = exact(parameters)
    norm = clip_grad_norm_(parameters, 1.0)
    compare(parameters, wanted_of(wanted, 1.0, 2), norm, wanted_of.norm)
    parameters = made(device, [torch.float32])
    wanted = exact(parameters)
    norm = clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)
    compare(parameters, wanted_of(wanted, 1.0, 2), norm, wanted_of.norm)


def test_nothing_to_clip(device):  # E05
    p = torch.nn.Parameter(torch.ones(3, device=device))
    assert clip_grad_norm_([], 1.0).item() == 0
    norm = clip_grad_norm_(p, 1.0)
    assert norm.item() == 0 and norm.device == p.device and p.grad is None
    clip_grad_value_(p, 1.0)
    p.grad = torch.zeros(3, device=device)
    assert clip_grad_norm_([p], 1.0).item() == 0 and p.grad.tolist() == [0.0] * 3


def test_limits_on_the_device(device):
    parameters = made(device, [torch.float32])
    wanted = exact(parameters)
    norm = clip_grad_norm_(parameters, torch.tensor(0.5, device=device))
    compare(parameters, wanted_of(wanted, 0.5, 2), norm, wanted_of.norm)
    for order in (0, -1):
        with pytest.raises(ValueError, match="norm_type: expected a number > 0"):
            clip_grad_norm_(parameters, 1.0, order)


@pytest.mark.parametrize("dtypes", DTYPES)
def test_values(device, dtypes):
    parameters = made(device, DTYPES[dtypes])
    parameters[4].grad[:3] = torch.tensor([math.inf, -math.inf, math.nan])
    wanted = exact(parameters)
    clip_grad_value_(parameters, 0.25)
    torch.nn.utils.clip_grad_value_(wanted, 0.25)
    for p, q in zip(parameters, wanted):
        if p.grad is not None:
            torch.testing.assert_close(p.grad.double(), q.grad, rtol=0, atol=0, equal_nan=True)


def test_sparse_gradients(device):
    embedding = torch.nn.Embedding(6, 3, sparse=True).to(device)
    embedding(torch.tensor([1, 4, 1], device=device)).sum().backward()
    dense = embedding.weight.grad.to_dense()
    norm = clip_grad_norm_(embedding.parameters(), 1.0)
    torch.testing.assert_close(norm, dense.norm())
    torch.testing.assert_close(embedding.weight.grad.to_dense(), dense / dense.norm(), rtol=1e-5, atol=1e-6)


def test_complex_gradients(device):
    p, q = (torch.nn.Parameter(torch.zeros(5, dtype=torch.complex64, device=device)) for _ in range(2))
    for each in (p, q):
        each.grad = torch.complex(torch.arange(5.0), torch.arange(5.0).flip(0)).to(device)
    norm, wanted = clip_grad_norm_([p], 1.5), torch.nn.utils.clip_grad_norm_([q], 1.5)
    torch.testing.assert_close(norm, wanted)
    torch.testing.assert_close(p.grad, q.grad)


def test_gradients_that_no_kernel_takes_are_named():
    p = torch.nn.Parameter(torch.ones(4, 3))
    p.grad = torch.ones(4, 6)[:, ::2]
    with pytest.raises(fusewright.Error, match=r"expected a dimension of stride 1, got \[6, 2\]"):
        clip_grad_norm_([p], 1.0)
    p.grad = torch.ones(4, 3)
    assert clip_grad_norm_([p], 1.0).item() == pytest.approx(12**0.5)


def test_plans_keep_no_parameter_alive(device):
    parameters = made(device, [torch.float32])
    clip_grad_norm_(parameters, 1.0)
    kept = len(clip._kept)
    gone = [weakref.ref(p) for p in parameters]
    del parameters
    gc.collect()
    assert [ref() for ref in gone] == [None] * 6 and len(clip._kept) < kept
    lists = [made(device, [torch.float32]) for _ in range(2 * clip._KEPT)]
    for parameters in lists:
        clip_grad_norm_(parameters, 1.0)
    assert len(clip._kept) == clip._KEPT


@pytest.mark.gpu
def test_parameters_on_two_devices():
    parameters = made("cpu", [torch.float32], 1) + made("cuda", [torch.float32, torch.bfloat16], 2)
    wanted = [torch.nn.Parameter(p.detach().cpu().double()) for p in parameters]
    for p, q in zip(parameters, wanted):
        q.grad = None if p.grad is None else p.grad.cpu().double()
    norm = clip_grad_norm_(parameters, 0.5)
    wanted_norm = torch.nn.utils.clip_grad_norm_(wanted, 0.5)
    torch.testing.assert_close(norm.double().cpu(), wanted_norm)
    for p, q in zip(parameters, wanted):
        if p.grad is not None:
            torch.testing.assert_close(p.grad.cpu().double(), q.grad, rtol=RELATIVE[p.grad.dtype], atol=1e-30)
