"""What the step does beside its equations: masters, copies, norms, averages, guards, states on the host."""
import math

import pytest
import torch

import fusewright.optim
from fusewright.optim import SGD, Adam, AdamW, Lion
from optim_reference import NAMES, SETTINGS, bits, copies, everything, gradients, parameters, same

pytestmark = pytest.mark.filterwarnings("ignore:.*lose updates")
SHAPES = [(7, 5), (33,), (0,), (2, 3, 4)]
EVERYTHING = {"max_norm": 0.5, "clip_value": 0.3, "ema_decay": 0.9, "zero_gradients": True, "guard": True}


def test_masters_keep_what_16_bits_lose(device):
    """Decay alone, 1000 times: bf16 has no number between 1 and 1 - 2^-8."""
    p = torch.nn.Parameter(torch.ones(4, dtype=torch.bfloat16, device=device))
    optimizer = AdamW([p], master_weights=True)
    p.grad = torch.zeros_like(p)
    for _ in range(1000):
        optimizer.step()
    master = optimizer.state[p]["master_param"]
    assert master.dtype == torch.float32 and torch.all((master - 0.99005).abs() < 5e-5)
    assert torch.equal(p, master.to(torch.bfloat16))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize(("name", "arguments"), SETTINGS, ids=NAMES)
def test_masters_are_what_a_float32_model_would_be(name, arguments, dtype, device):
    narrow = parameters(SHAPES, dtype, device)
    wide = [torch.nn.Parameter(p.detach().float()) for p in narrow]
    make = getattr(fusewright.optim, name)
    first, second = make(narrow, master_weights=True, **arguments), make(wide, **arguments)
    for t in range(20):
        gradients(narrow, t)
        for p, q in zip(narrow, wide):
            q.grad = p.grad.float()
        first.step()
        second.step()
    for p, q in zip(narrow, wide):
        assert torch.equal(first.state[p]["master_param"], q) and torch.equal(p, q.to(dtype))


def test_masters_in_a_list_of_all_dtypes(device):
    params = [p for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64) for p in parameters([(5,), (6,)], dtype, device)]
    alone = copies(params)
    optimizer, others = AdamW(params, master_weights=True), [AdamW([p], master_weights=True) for p in alone]
    for t in range(3):
        gradients(params, t)
        for p, q, other in zip(params, alone, others):
            q.grad = p.grad.clone()
            other.step()
        optimizer.step()
    assert all(same(p, q) for p, q in zip(params, alone))
    assert all(optimizer.state[p]["master_param"].dtype == (torch.float64 if p.dtype == torch.float64 else torch.float32)
               for p in params)
    assert "master_param" not in others[0].state[alone[0]]
    guarded = AdamW(params, master_weights=True, **EVERYTHING)
    gradients(params, 4)
    exact = torch.cat([p.grad.double().flatten() for p in params]).norm()
    guarded.step()
    assert guarded.norm.item() == pytest.approx(exact.item(), rel=1e-6)


def test_masters_follow_a_model_that_is_loaded_when_told(device):
    params = parameters([(4,)], torch.bfloat16, device)
    optimizer = SGD(params, lr=0.0, master_weights=True)
    gradients(params, 1)
    optimizer.step()
    params[0].data.fill_(3)
    optimizer.refresh_masters()
    optimizer.step()
    assert torch.all(params[0] == 3) and torch.all(optimizer.state[params[0]]["master_param"] == 3)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_copies_are_the_rounded_parameters(dtype, device):
    params = parameters(SHAPES, device=device)
    alone = copies(params)
    first, second = Lion(params, low_precision_copy=dtype), Lion(alone)
    for t in range(3):
        gradients(params, t)
        for p, q in zip(params, alone):
            q.grad = p.grad.clone()
        first.step()
        second.step()
        for p, q in zip(params, alone):
            assert same(p, q) and same(first.state[p]["low_precision_copy"], q.detach().to(dtype))


def test_clipping_is_torchs(device):
    params = parameters(SHAPES, device=device)
    alone = copies(params)
    first, second = SGD(params, lr=0.1, max_norm=0.7), torch.optim.SGD(alone, lr=0.1)
    for t in range(3):
        gradients(params, t)
        for p, q in zip(params, alone):
            q.grad = p.grad.clone()
        norm = torch.nn.utils.clip_grad_norm_(alone, 0.7)
        first.step()
        second.step()
        assert first.norm.shape == () and first.norm.device == params[0].device
        assert first.norm.item() == pytest.approx(norm.item(), rel=1e-6)
    assert all(torch.allclose(p, q, rtol=1e-6, atol=1e-7) for p, q in zip(params, alone))
    first.max_norm = 1e9
    gradients(params, 9)
    before = [p.detach().clone() for p in params]
    first.step()
    assert all(torch.allclose(p, old - 0.1 * p.grad, rtol=1e-6, atol=1e-7) for p, old in zip(params, before))
    first.max_norm = None
    first.step()
    with pytest.raises(RuntimeError, match="norm: expected a step with max_norm, got none"):
        first.norm


def test_case_B09(device):
    """One norm of all dtypes: gradients 3 and 4 have norm 5."""
    p, q = parameters([(1,)], torch.float32, device) + parameters([(1,)], torch.float16, device)
    p.data.zero_()
    q.data.zero_()
    p.grad, q.grad = torch.full_like(p, 3.0), torch.full_like(q, 4.0)
    optimizer = SGD([p, q], lr=1.0, max_norm=1.0)
    optimizer.step()
    assert optimizer.norm.item() == 5
    assert p.item() == pytest.approx(-0.6, rel=1e-5) and q.item() == pytest.approx(-0.8, rel=1e-3)


def test_the_norm_of_nothing_is_0(device):
    """Without gradients, and with gradients without elements; a norm of before does not stay."""
    params = parameters([(3,), (0,)], device=device)
    optimizer = AdamW(params, max_norm=1.0, guard=True)
    optimizer.step()
    assert optimizer.norm.item() == 0 and optimizer.applied.item() == 1
    gradients(params, 1)
    optimizer.step()
    assert optimizer.norm.item() > 0
    optimizer.zero_grad()
    optimizer.step()
    assert optimizer.norm.item() == 0
    params[1].grad = torch.zeros_like(params[1])
    optimizer.step()
    assert optimizer.norm.item() == 0 and optimizer.applied.item() == 1


def test_clip_value_limits_each_element(device):
    params = parameters([(50,)], device=device)
    before = params[0].detach().clone()
    optimizer = SGD(params, lr=1.0, clip_value=0.25)
    gradients(params, 1)
    optimizer.step()
    assert torch.allclose(params[0], before - params[0].grad.clamp(-0.25, 0.25), rtol=1e-6, atol=1e-7)


def test_averages_start_at_the_parameter(device):
    params = parameters(SHAPES, device=device)
    optimizer = SGD(params, lr=0.1, ema_decay=0.75)
    averages = [p.detach().clone() for p in params]
    for t in range(5):
        gradients(params, t)
        optimizer.step()
        for p, average in zip(params, averages):
            average.mul_(0.75).add_(p.detach(), alpha=0.25)
            assert torch.allclose(optimizer.state[p]["ema"], average, rtol=1e-6, atol=1e-7)


def test_gradients_are_zeroed_behind_their_use(device):
    params = parameters(SHAPES, device=device) + [torch.nn.Parameter(torch.ones(3, 4, device=device))]
    optimizer = SGD(params, lr=0.1, zero_gradients=True, guard=True)
    gradients(params, 1)
    params[-1].grad = torch.ones(4, 3, device=device).t()  # copied, and back
    optimizer.step()
    assert all(p.grad.abs().sum() == 0 for p in params) and torch.all(params[-1] == 0.9)
    gradients(params, 2)
    params[-1].grad = torch.full((4, 3), math.nan, device=device).t()
    optimizer.step()  # what is not finite goes too, or all later steps would be skipped
    assert all(p.grad.abs().sum() == 0 for p in params) and optimizer.applied.item() == 0
    params[-1].grad = torch.ones((), device=device).expand(3, 4)
    with pytest.raises(RuntimeError, match="zero_gradients: expected gradients whose elements have memory of their own"):
        optimizer.step()


@pytest.mark.parametrize("features", [{"guard": True}, EVERYTHING, {**EVERYTHING, "master_weights": True, "low_precision_copy": torch.float16}],
                         ids=["guard", "all", "all and masters"])
@pytest.mark.parametrize(("name", "arguments"), SETTINGS, ids=NAMES)
def test_a_skipped_step_changes_no_byte(name, arguments, features, device):
    params = parameters(SHAPES, torch.bfloat16, device) + parameters(SHAPES, torch.float32, device, seed=2)
    optimizer = getattr(fusewright.optim, name)(params, **arguments, **features)
    for t, bad in enumerate((None, math.inf, None, math.nan, -math.inf, None)):
        gradients(params, t)
        if bad is not None:
            params[-1].grad[1, 2, 3] = bad
        before, given = everything(optimizer), [bits(p.grad) for p in params]
        optimizer.step()
        behind = everything(optimizer)
        changed = [key for key, value in behind.items() if not torch.equal(value, before.get(key, torch.zeros(0, dtype=torch.uint8)))]
        assert optimizer.applied.item() == (bad is None)
        if bad is not None:
            assert not changed, f"step {t}"
            zeroed = features.get("zero_gradients", False)
            assert all((p.grad == 0).all() if zeroed else torch.equal(bits(p.grad), old) for p, old in zip(params, given))
        else:
            assert {f"p{number}" for number, p in enumerate(params) if p.numel()} <= {*changed} or t == 0 or name == "Lion"


@pytest.mark.parametrize("inner", [1, 2])
def test_a_skipped_first_step_gives_back_what_kernels_do_not_take(inner):
    """With masters the equations do not read the parameter, and its copy has to be that of now all the same."""
    base = torch.full((4, 6 * inner), 3.0, dtype=torch.bfloat16)
    p = torch.nn.Parameter(base[:, ::inner])
    optimizer = AdamW([p], lr=0.1, master_weights=True, guard=True)
    p.grad = torch.full((4, 6), math.inf, dtype=torch.bfloat16)
    optimizer.step()
    assert optimizer.applied.item() == 0 and torch.all(p == 3)
    p.grad = torch.ones((4, 6), dtype=torch.bfloat16)
    optimizer.step()
    assert optimizer.applied.item() == 1 and torch.all(p < 3)
    assert torch.all(base[:, 1::2] == 3 if inner == 2 else base < 3)


@pytest.mark.parametrize("home", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_skipped_first_step_with_states_on_the_host(home):
    params = parameters(SHAPES, torch.bfloat16, home)
    optimizer = AdamW(params, lr=0.1, master_weights=True, guard=True, offload="cpu")
    gradients(params, 0)
    params[0].grad.view(-1)[0] = math.inf
    before = [bits(p) for p in params]
    optimizer.step()
    assert optimizer.applied.item() == 0 and all(torch.equal(bits(p), old) for p, old in zip(params, before))


def test_case_C01(device):
    """A skipped first call leaves the next one a first call: the buffer is the gradient."""
    p = torch.nn.Parameter(torch.zeros(2, device=device))
    optimizer = SGD([p], lr=1.0, momentum=0.9, dampening=0.5, guard=True)
    p.grad = torch.tensor([math.inf, 1.0], device=device)
    optimizer.step()
    assert torch.all(p == 0) and optimizer.applied.item() == 0
    p.grad = torch.ones(2, device=device)
    optimizer.step()
    assert torch.all(p == -1) and torch.all(optimizer.state[p]["momentum_buffer"] == 1)


def test_case_C11(device):
    """Whether the step was applied is a number on the device."""
    params = parameters([(3,)], device=device)
    optimizer = AdamW(params, guard=True)
    for bad, expected in ((False, 1.0), (True, 0.0), (False, 1.0)):
        gradients(params, 1)
        if bad:
            params[0].grad[0] = math.nan
        optimizer.step()
        assert optimizer.applied.shape == () and optimizer.applied.device == params[0].device
        assert optimizer.applied.item() == expected
    plain = AdamW(params)
    plain.step()
    assert plain.applied.item() == 1


def test_groups_with_other_options_have_no_common_norm():
    first, second = parameters([(3,), (4,)])
    gradients([first, second], 1)
    optimizer = Adam([{"params": [first]}, {"params": [second], "amsgrad": True}], max_norm=1.0)
    with pytest.raises(RuntimeError, match="with one set of options, for a common norm.*amsgrad=false.*amsgrad=true"):
        optimizer.step()


@pytest.mark.parametrize("home", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("features", [{}, {"max_norm": 0.5, "zero_gradients": True, "guard": True}, {"ema_decay": 0.5}], ids=str)
def test_states_on_the_host(home, features):
    """Offloaded steps give the bits of others, but for sums."""
    params = parameters(SHAPES, torch.bfloat16, home) + parameters(SHAPES, torch.float32, home, seed=3)
    alone = copies(params)
    first, second = AdamW(params, master_weights=True, offload="cpu", **features), AdamW(alone, master_weights=True, **features)
    for t in range(4):
        gradients(params, t)
        for p, q in zip(params, alone):
            q.grad = p.grad.clone()
        first.step()
        second.step()
        for p, q in zip(params, alone):
            assert torch.allclose(p, q, rtol=1e-2 if p.dtype == torch.bfloat16 else 1e-6, atol=1e-6)
            if "max_norm" not in features:
                assert same(p, q)
            assert torch.equal(p.grad, q.grad)
    assert {value.device.type for state in first.state.values() for value in state.values()} == {"cpu"}
    third = AdamW(copies(params), master_weights=True, offload="cpu", **features)
    third.load_state_dict(first.state_dict())
    others = third.param_groups[0]["params"]
    for optimizer, members in ((first, params), (third, others)):
        gradients(members, 7)
        optimizer.step()
    assert all(same(p, q) for p, q in zip(params, others))


def test_features_that_an_op_has_not_are_told(tmp_path):
    file = tmp_path / "odd.fuse"
    file.write_text("op odd over elements {\n  param p;  grad g;  hyper lr = 1e-2 >= 0\n  p = p - lr*g  # E1\n}\n")
    recipe = fusewright.optim.from_file(file)
    params = parameters([(3,)])
    gradients(params, 1)
    recipe(params, **EVERYTHING).step()  # all of them suit it
    assert torch.isfinite(params[0]).all()


def test_masters_that_are_left_out_for_a_while_start_anew():
    """A float32 parameter beside a narrow one has a master; with options of its own it has none, and later one of then."""
    wide, narrow = parameters([(3,)]) + parameters([(4,)], torch.bfloat16)
    (alone,) = copies([wide])
    optimizer = AdamW([{"params": [wide]}, {"params": [narrow]}], lr=0.1, master_weights=True)
    reference = AdamW([alone], lr=0.1)
    for t in range(6):
        optimizer.param_groups[0]["maximize"] = reference.param_groups[0]["maximize"] = t in (2, 3)
        gradients([wide, narrow], t)
        alone.grad = wide.grad.clone()
        optimizer.step()
        reference.step()
        assert same(wide, alone) and ("master_param" in optimizer.state[wide]) == (t not in (2, 3))


@pytest.mark.parametrize("arena", [False, True])
def test_an_overflow_is_gone_with_the_gradients(arena, device):
    """Zeroed behind each step, under a guard and under a scaler."""
    for scaler in (None, fusewright.amp.GradScaler(torch.device(device).type)):
        p = torch.nn.Parameter(torch.zeros(3, device=device))
        optimizer = SGD([p], lr=1.0, zero_gradients=True, guard=scaler is None)
        if arena:
            optimizer.use_arena()
        for step in range(6):
            loss = (p * (math.inf if step == 1 else 1.0)).sum()
            if scaler is None:
                loss.backward()
                optimizer.step()
            else:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
        assert torch.equal(p.detach(), torch.full_like(p, -5.0))


@pytest.mark.parametrize("decay", [1.5, -0.1, math.nan, "0.9"])
def test_a_decay_outside_its_range_is_refused(decay):
    with pytest.raises(ValueError, match="ema_decay: expected a number in"):
        SGD(parameters([(3,)]), lr=0.1, ema_decay=decay)
