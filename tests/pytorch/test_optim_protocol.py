"""What torch.optim.Optimizer promises: groups, closures, schedulers, hooks, late gradients, clear refusals."""
import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from fusewright.optim import SGD, Adam, AdamW, Lion
from optim_reference import bits, copies, everything, gradients, parameters, same

pytestmark = pytest.mark.filterwarnings("ignore:.*lose updates")


def count(optimizer, p):
    return float(optimizer.state_dict()["state"][[id(q) for g in optimizer.param_groups for q in g["params"]].index(id(p))]["step"])


def test_case_A01(device):
    """A counter for each parameter: the one whose gradient comes late makes its first move by its own first step."""
    first, second = parameters([(), ()], device=device)
    first.data.zero_()
    second.data.zero_()
    optimizer = Adam([first, second], lr=0.1, eps=0.0)
    first.grad = torch.ones_like(first)
    optimizer.step()
    assert second not in optimizer.state and second.item() == 0
    second.grad = torch.ones_like(second)
    optimizer.step()
    assert second.item() == pytest.approx(-0.1, rel=1e-6)
    assert (count(optimizer, first), count(optimizer, second)) == (2, 1)


def test_classes_of_age_split_and_plans_stay_true(device):
    """Sets of gradients that come and go: every parameter is what an optimizer of its own makes of it."""
    params = parameters([(3,)] * 5, device=device)
    alone = copies(params)
    optimizer, others = AdamW(params, lr=0.1), [AdamW([p], lr=0.1) for p in alone]
    sets = [(0, 1, 2, 3), (0, 1), (2, 3, 4), (0, 1, 2, 3), (0, 1), (4,), (), (0, 1, 2, 3, 4), (0, 1, 2, 3), (1, 3)] * 2
    for t, members in enumerate(sets):
        gradients(params, t)
        for number, (p, q) in enumerate(zip(params, alone)):
            q.grad = p.grad.clone() if number in members else None
            if number not in members:
                p.grad = None
            else:
                others[number].step()
        optimizer.step()
        assert all(same(p, q) for p, q in zip(params, alone)), t
    for number, p in enumerate(params):
        assert count(optimizer, p) == sum(number in members for members in sets)
    assert optimizer.statistics()["plans_kept"] <= 8


def test_more_ages_than_a_plan_can_watch():
    params = parameters([(2,)] * 70)
    alone = copies(params)
    optimizer, others = AdamW(params, lr=0.1), [AdamW([p], lr=0.1) for p in alone]
    for t in range(72):
        gradients(params, t)
        for number, (p, q) in enumerate(zip(params, alone)):
            if number > t:
                p.grad = None
            else:
                q.grad = p.grad.clone()
                others[number].step()
        optimizer.step()
    assert all(same(p, q) for p, q in zip(params, alone))


def test_case_A09(device):
    """A group without elements on this rank, and one without parameters: the counter is 3 everywhere, and who loads the
    state with the elements goes on from there."""
    shard, full = parameters([(0,), (4,)], device=device)
    optimizer = Adam([{"params": [shard]}, {"params": []}, {"params": [full]}])
    for t in range(3):
        gradients([shard, full], t)
        optimizer.step()
    saved = optimizer.state_dict()
    assert [float(state["step"]) for state in saved["state"].values()] == [3, 3]
    whole = parameters([(5,), (4,)], device=device)
    for name in ("exp_avg", "exp_avg_sq"):  # what resharding puts together
        saved["state"][0][name] = torch.ones(5)
    reader = Adam([{"params": [whole[0]]}, {"params": []}, {"params": [whole[1]]}])
    reader.load_state_dict(saved)
    gradients(whole, 4)
    reader.step()
    assert [float(state["step"]) for state in reader.state_dict()["state"].values()] == [4, 4]


def test_case_E01(device):
    """Four elements and none, in one call."""
    full, empty = parameters([(4,), (0,)], device=device)
    before = bits(full)
    optimizer = Adam([full, empty])
    gradients([full, empty], 1)
    optimizer.step()
    assert not torch.equal(bits(full), before) and (count(optimizer, full), count(optimizer, empty)) == (1, 1)


def test_case_E09(device):
    """Many shards without elements among real ones."""
    shapes = [(0,), (3,), (0, 5), (4, 0), (7, 2)] * 20
    params = parameters(shapes, device=device)
    real = [p for p in params if p.numel()]
    alone = copies(real)
    first, second = AdamW(params), AdamW(alone)
    for t in range(3):
        gradients(params, t)
        for p, q in zip(real, alone):
            q.grad = p.grad.clone()
        first.step()
        second.step()
    assert all(same(p, q) for p, q in zip(real, alone))


def test_groups_have_their_own_numbers_and_options(device):
    params = parameters([(3,), (4,), (5,)], device=device)
    alone = copies(params)
    settings = [{"lr": 0.1, "betas": (0.5, 0.6), "amsgrad": True}, {"weight_decay": 0.3, "maximize": True}, {"eps": 1.0}]
    optimizer = AdamW([{"params": [p], **own} for p, own in zip(params, settings)], lr=0.01)
    others = [AdamW([q], **{"lr": 0.01, **own}) for q, own in zip(alone, settings)]
    for t in range(5):
        gradients(params, t)
        for p, q, other in zip(params, alone, others):
            q.grad = p.grad.clone()
            other.step()
        optimizer.step()
        if t == 2:  # options may change between steps
            optimizer.param_groups[1]["maximize"] = others[1].param_groups[0]["maximize"] = False
            optimizer.param_groups[2]["betas"] = others[2].param_groups[0]["betas"] = [0.7, 0.8]
        if t == 3:
            optimizer.param_groups[2]["betas"][0] = others[2].param_groups[0]["betas"][0] = 0.2
    assert all(same(p, q) for p, q in zip(params, alone))


def test_groups_that_are_added_later_start_young():
    first, second = parameters([(3,), (4,)])
    alone = copies([first, second])
    optimizer = AdamW([first], lr=0.1)
    gradients([first], 1)
    optimizer.step()
    optimizer.add_param_group({"params": [second], "lr": 0.2})
    others = AdamW([alone[0]], lr=0.1), AdamW([alone[1]], lr=0.2)
    gradients([alone[0]], 1)
    others[0].step()
    for t in range(2, 5):
        gradients([first, second], t)
        for p, q, other in zip((first, second), alone, others):
            q.grad = p.grad.clone()
            other.step()
        optimizer.step()
    assert same(first, alone[0]) and same(second, alone[1])


def test_parameters_that_are_swapped_in_place_are_seen():
    """As programs do that grow their models: group["params"][0] = nn.Parameter(...)."""
    (p,) = parameters([(3,)])
    optimizer = AdamW([p], lr=0.1)
    gradients([p], 1)
    optimizer.step()
    old = bits(p)
    (q,) = parameters([(5,)])
    state = optimizer.state.pop(p)
    optimizer.param_groups[0]["params"][0] = q
    optimizer.state[q] = {name: torch.zeros(5) if value.dim() else value for name, value in state.items()}
    gradients([q], 2)
    before = bits(q)
    optimizer.step()
    assert torch.equal(bits(p), old) and not torch.equal(bits(q), before) and count(optimizer, q) == 2
    q.data = torch.zeros(7)
    optimizer.state.clear()
    q.grad = torch.ones(7)
    optimizer.step()
    assert count(optimizer, q) == 1 and torch.all(q < 0)


def test_a_single_element_that_is_swapped_for_its_equal_is_seen():
    """The one kind of tensors whose == is a bool."""
    params = parameters([(1,), (3,)])
    optimizer = SGD(params, lr=1.0)
    gradients(params, 1)
    optimizer.step()
    twin = torch.nn.Parameter(params[0].detach().clone())
    twin.grad = torch.ones(1)
    old, before = bits(params[0]), twin.item()
    optimizer.param_groups[0]["params"][0] = twin
    optimizer.step()
    assert twin.item() == before - 1 and torch.equal(bits(params[0]), old)


def test_parameters_of_odd_layouts_that_change_shape_are_followed():
    wide = torch.ones(4, 8)
    p = torch.nn.Parameter(wide[:, ::2])
    optimizer = SGD([p], lr=1.0)
    for data in (wide[:, ::2], torch.ones(3, 6)[:, ::3], torch.ones(5)):
        p.grad = None
        p.data = data
        p.grad = torch.ones(p.shape)
        optimizer.step()
        assert torch.all(p == data) and torch.all(p == 0)


def test_parameters_whose_memory_moves_are_followed():
    params = parameters([(3, 4), (5,)])
    alone = copies(params)
    first, second = AdamW(params), AdamW(alone)
    old = []
    for t in range(6):
        gradients(params, t)
        for p, q in zip(params, alone):
            q.grad = p.grad.clone()
            if t % 2:
                old.append(p.data)
                p.data = p.data.clone()
        first.step()
        second.step()
    assert all(same(p, q) for p, q in zip(params, alone)) and first.statistics()["plans_made"] == 1


def test_closures_compute_with_gradients_on():
    (p,) = parameters([(4,)])
    optimizer = SGD([p], lr=0.1)
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        seen.append(torch.is_grad_enabled())
        return loss

    before = p.detach().clone()
    with torch.no_grad():
        loss = optimizer.step(closure)
    assert seen == [True] and loss.item() == pytest.approx((before**2).sum().item())
    assert torch.allclose(p, 0.8 * before)
    assert optimizer.step(closure=closure).item() < loss.item()


@pytest.mark.parametrize("make", [
    lambda o: torch.optim.lr_scheduler.StepLR(o, 2, 0.5),
    lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda t: 0.9**t),
    lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=20),
    lambda o: torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
], ids=["StepLR", "LambdaLR", "OneCycleLR", "CosineAnnealingWarmRestarts"])
def test_schedulers(make, recwarn):
    params = parameters([(4,), (5,)])
    alone = copies(params)
    first, second = AdamW(params, lr=0.1), torch.optim.AdamW(alone, lr=0.1)
    schedules = make(first), make(second)
    for t in range(8):
        gradients(params, t)
        for p, q in zip(params, alone):
            q.grad = p.grad.clone()
        first.step()
        second.step()
        for schedule in schedules:
            schedule.step()
        assert first.param_groups[0]["lr"] == second.param_groups[0]["lr"]
    assert first.step.__self__ is first if hasattr(first.step, "__self__") else True
    assert all(torch.allclose(p, q, rtol=1e-5, atol=1e-6) for p, q in zip(params, alone))
    assert not [w for w in recwarn if "lr_scheduler" in str(w.message)]


def test_a_tensor_as_learning_rate(device):
    params = parameters([(4,)], device=device)
    alone = copies(params)
    lr = torch.tensor(0.1, device=device)
    on_host = torch.tensor(0.1)
    first, second, third = AdamW(params, lr=lr), AdamW(alone, lr=0.1), AdamW(copies(params), lr=on_host)
    for t in range(4):
        lr.fill_(0.1 / (t + 1))
        on_host.fill_(0.1 / (t + 1))
        second.param_groups[0]["lr"] = lr.item()
        for optimizer in (first, second, third):
            gradients(optimizer.param_groups[0]["params"], t)
            optimizer.step()
    assert same(params[0], alone[0])
    assert same(params[0], third.param_groups[0]["params"][0])
    first.param_groups[0]["lr"] = 0.5
    second.param_groups[0]["lr"] = 0.5
    first.step()
    second.step()
    assert same(params[0], alone[0])


def test_hooks_and_profiler_ranges():
    (p,) = parameters([(4,)])
    optimizer = AdamW([p])
    gradients([p], 1)
    calls = []
    handles = [optimizer.register_step_pre_hook(lambda o, a, k: calls.append(("before", o is optimizer, len(a), k))),
               optimizer.register_step_post_hook(lambda o, a, k: calls.append("behind")),
               register_optimizer_step_pre_hook(lambda o, a, k: calls.append("all before")),
               register_optimizer_step_post_hook(lambda o, a, k: calls.append("all behind"))]
    optimizer.step()
    assert calls == ["all before", ("before", True, 1, {}), "behind", "all behind"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(calls) == 4
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        optimizer.step()
    assert "Optimizer.step#AdamW.step" in {event.key for event in profile.key_averages()}
    assert count(optimizer, p) == 3


def test_zero_grad_is_torchs():
    params = parameters([(4,)])
    optimizer = AdamW(params)
    gradients(params, 1)
    optimizer.zero_grad(set_to_none=False)
    assert params[0].grad.abs().sum() == 0
    optimizer.zero_grad()
    assert params[0].grad is None
    optimizer.step()
    assert len(optimizer.state) == 0


def test_backward_through_older_values_is_refused():
    """Autograd is told that the parameters have changed."""
    (p,) = parameters([(4,)])
    optimizer = SGD([p], lr=0.1)
    loss = (p * p).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_named_parameters_and_subclasses():
    model = torch.nn.Linear(3, 2)
    if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 6):
        optimizer = AdamW(model.named_parameters())
        assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]

    class Mine(AdamW):
        def step(self, closure=None):
            self.calls = getattr(self, "calls", 0) + 1
            return super().step(closure)

    optimizer = Mine(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    assert optimizer.calls == 1 and len(optimizer.state) == 2 and "Mine" in repr(optimizer)


@pytest.mark.parametrize(("make", "message"), [
    (lambda p: AdamW(p, lr=-1.0), "lr: expected a number >= 0, got -1.0"),
    (lambda p: AdamW(p, betas=(0.9, 1.0)), r"betas\[1\]: expected a number in \[0, 1\), got 1.0"),
    (lambda p: AdamW(p, betas=0.9), "betas: expected 2 numbers, got 0.9"),
    (lambda p: AdamW(p, eps=-1e-8), "eps: expected a number >= 0"),
    (lambda p: SGD(p, momentum=-0.5), "momentum: expected a number >= 0"),
    (lambda p: SGD(p, nesterov=True), "nesterov: expected a momentum and no dampening"),
    (lambda p: Adam(p, differentiable=True), "differentiable: expected False"),
    (lambda p: AdamW([{"params": p, "lr": -2.0}]), "lr: expected a number >= 0, got -2.0"),
    (lambda p: AdamW(p, max_norm=-1.0), "max_norm: expected a number >= 0"),
    (lambda p: AdamW(p, offload="disk"), 'offload: expected None or "cpu"'),
    (lambda p: AdamW(p, state_dtype=torch.int8), "state_dtype: expected one of"),
    (lambda p: AdamW([torch.nn.Parameter(torch.zeros(2, dtype=torch.complex64))]), "got torch.complex64; complex and"),
])
def test_mistakes_are_told_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make(parameters([(2,)]))


def test_unknown_arguments_are_told():
    with pytest.raises(TypeError, match="expected arguments among lr.*got momentum"):
        Lion(parameters([(2,)]), momentum=0.9)
    with pytest.raises(TypeError, match="iterable"):
        AdamW(parameters([(2,)])[0])
    with pytest.raises(ValueError, match="empty parameter list"):
        AdamW([])


def test_a_failed_group_is_not_added():
    optimizer = AdamW(parameters([(2,)]))
    for bad in ({"lr": -1.0}, {"betas": (2.0, 0.5)}):
        with pytest.raises(ValueError):
            optimizer.add_param_group({"params": parameters([(3,)]), **bad})
    with pytest.raises(ValueError, match="complex"):
        optimizer.add_param_group({"params": [torch.nn.Parameter(torch.zeros(2, dtype=torch.complex64))]})
    assert len(optimizer.param_groups) == 1


def test_sparse_gradients_are_refused():
    table = torch.nn.Embedding(4, 2, sparse=True)
    optimizer = AdamW(table.parameters())
    table(torch.tensor([1, 2])).sum().backward()
    before = bits(table.weight)
    with pytest.raises(RuntimeError, match="expected dense gradients, got layout torch.sparse_coo"):
        optimizer.step()
    assert torch.equal(bits(table.weight), before)


def test_numbers_out_of_range_at_a_step_change_nothing():
    params = parameters([(3,)])
    optimizer = AdamW(params)
    gradients(params, 1)
    optimizer.step()
    before = everything(optimizer)
    optimizer.param_groups[0]["lr"] = -1.0
    for _ in range(2):
        with pytest.raises(RuntimeError, match="lr"):
            optimizer.step()
    assert all(torch.equal(value, before[name]) for name, value in everything(optimizer).items())
    optimizer.param_groups[0]["lr"] = 0.1
    optimizer.step()
    assert count(optimizer, params[0]) == 2


def test_narrow_parameters_without_masters_are_warned_of_once():
    from fusewright.optim import optimizer as module

    module._warned.clear()
    with pytest.warns(UserWarning, match="AdamW: parameters in torch.bfloat16 lose updates") as caught:
        AdamW(parameters([(2,)], torch.bfloat16))
        AdamW(parameters([(2,)], torch.bfloat16))
    assert len(caught) == 1 and caught[0].filename == __file__
    module._warned.clear()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AdamW(parameters([(2,)], torch.bfloat16), master_weights=True)
        AdamW(parameters([(2,)]), low_precision_copy=torch.bfloat16)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_8_bit_parameters_are_warned_of_and_have_masters(dtype, monkeypatch):
    monkeypatch.setattr("fusewright.optim.optimizer._warned", [])
    (p,) = [torch.nn.Parameter(torch.ones(3).to(dtype))]
    with pytest.warns(UserWarning, match=f"AdamW: parameters in {dtype} lose updates"):
        AdamW([p])
    optimizer = AdamW([p], lr=1e-3, weight_decay=0.0, master_weights=True)
    p.grad = torch.ones(3).to(dtype)
    for _ in range(100):
        optimizer.step()
    assert torch.allclose(optimizer.state[p]["master_param"], torch.tensor(0.9), atol=1e-3)
    assert torch.equal(p.detach().float(), optimizer.state[p]["master_param"].to(dtype).float())


@pytest.mark.parametrize("options, error, text", [
    ({"lr": "x"}, ValueError, r"lr: expected a number or a tensor, got 'x'; pass a number, for example float\(...\)"),
    ({"lr": None}, ValueError, "lr: expected a number or a tensor, got None; leave it out for the default 0.001"),
    ({"betas": (0.9, None)}, ValueError, r"betas\[1\]: expected .*, got None; leave it out for the default 0.999"),
    ({"process_group": "x"}, ValueError, "process_group: expected a torch.distributed.ProcessGroup, got 'x'; pass torch.distributed"),
    ({"process_group": torch.distributed.GroupMember.NON_GROUP_MEMBER}, ValueError, "process_group: .* this process is not in the group"),
    ({"weight_decay": [1]}, ValueError, r"weight_decay: expected a number or a tensor, got \[1\]"),
    ({"lr": float("nan")}, ValueError, "lr: expected a number >= 0, got nan"),
    ({"betas": (0.9,)}, ValueError, "betas: expected 2 numbers"),
    ({"max_norm": "x"}, ValueError, "max_norm: expected a number >= 0, got 'x'"),
    ({"speed": 1}, TypeError, "expected arguments among lr, betas.*got speed")])
def test_arguments_that_are_refused(options, error, text):
    with pytest.raises(error, match=text):
        AdamW([torch.nn.Parameter(torch.zeros(3))], **options)


def test_a_learning_rate_that_becomes_no_number():
    parameter = torch.nn.Parameter(torch.zeros(3))
    optimizer = AdamW([parameter])
    parameter.grad = torch.ones(3)
    optimizer.param_groups[0]["lr"] = "x"
    with pytest.raises(ValueError, match="lr: expected a number or a tensor, got 'x'"):
        optimizer.step()
    assert parameter.tolist() == [0.0] * 3


def test_states_are_looked_at_once_somebody_has_them(device):
    """What nobody has read nobody can have moved."""
    parameter = torch.nn.Parameter(torch.zeros(3, device=device))
    optimizer = AdamW([parameter], lr=0.1)
    parameter.grad = torch.ones(3, device=device)
    optimizer.step()
    assert not optimizer._are_states_out
    moved = optimizer.state[parameter]["exp_avg"]
    old, moved.data = moved.data, torch.full((3,), 5.0, device=device)
    optimizer.step()
    assert moved.tolist() != [5.0] * 3 and old.tolist() == pytest.approx([0.1] * 3)
