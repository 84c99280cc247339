"""State dicts of optimizers: both ways with torch.optim, dtypes, counters, resume to the bit, copies and pickles."""
import copy
import io
import pickle
import warnings

import pytest
import torch

import fusewright.optim
from optim_reference import NAMES, SETTINGS, bits, copies, everything, gradients, parameters, same

pytestmark = pytest.mark.filterwarnings("ignore:.*lose updates")
SHAPES = [(7, 5), (33,), (2, 3, 4)]
TORCHS = [row for row in SETTINGS if row[0] != "Lion"]
TORCHS_NAMES = [row for row in NAMES if not row.startswith("Lion")]


def ours(name, params, arguments):
    return getattr(fusewright.optim, name)(params, **arguments)


def theirs(name, params, arguments):
    return getattr(torch.optim, name)(params, **arguments)


def train(optimizer, first, last):
    params = [p for group in optimizer.param_groups for p in group["params"]]
    for t in range(first, last):
        gradients(params, t)
        optimizer.step()


def through_file(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def close(params, others, steps):
    for p, q in zip(params, others):
        assert torch.allclose(p, q, rtol=0, atol=steps * 4 * 2.0**-23 * max(1.0, p.abs().max().item()))


@pytest.mark.parametrize("make_first", [ours, theirs], ids=["from ours", "from torch's"])
@pytest.mark.parametrize(("name", "arguments"), TORCHS, ids=TORCHS_NAMES)
def test_a_state_goes_over_and_training_goes_on(name, arguments, make_first, device):
    """Ten steps here, ten there: the same as twenty of torch's, but for roundings."""
    params = parameters(SHAPES, device=device)
    alone = copies(params)
    first = make_first(name, params, arguments)
    train(first, 1, 11)
    reference = theirs(name, alone, arguments)
    train(reference, 1, 21)
    make_second = theirs if make_first is ours else ours
    second = make_second(name, params, arguments)
    second.load_state_dict(through_file(first.state_dict()))
    train(second, 11, 21)
    close(params, alone, 20)


@pytest.mark.parametrize("form", [{"fused": True}, {"foreach": True}, {"capturable": True}], ids=str)
@pytest.mark.gpu
def test_torchs_device_forms_go_both_ways(form):
    params = parameters(SHAPES, device="cuda")
    first = torch.optim.AdamW(params, **form)
    train(first, 1, 6)
    second = fusewright.optim.AdamW(params)
    second.load_state_dict(through_file(first.state_dict()))
    train(second, 6, 11)
    saved = second.state_dict()
    on_device = form.get("capturable") or form.get("fused")
    assert saved["state"][0]["step"].device.type == ("cuda" if on_device else "cpu")
    third = torch.optim.AdamW(params, **form)
    third.load_state_dict(through_file(saved))
    train(third, 11, 13)
    assert float(third.state[params[0]]["step"]) == 12


@pytest.mark.parametrize("name", ["AdamW", "Adam", "SGD"])
def test_torchs_fused_form_on_the_cpu(name):
    arguments = {"lr": 0.05, "momentum": 0.9} if name == "SGD" else {"lr": 0.05}
    params = parameters(SHAPES)
    alone = copies(params)
    reference = theirs(name, alone, {**arguments, "fused": True})
    train(reference, 1, 10)
    for number, make in enumerate((theirs, ours, theirs)):
        optimizer = make(name, params, {**arguments, "fused": True})
        if number:
            optimizer.load_state_dict(saved)
        train(optimizer, 1 + 3 * number, 4 + 3 * number)
        saved = through_file(optimizer.state_dict())
        assert saved["param_groups"][0]["fused"] is True
    close(params, alone, 9)


@pytest.mark.parametrize(("name", "arguments"), SETTINGS, ids=NAMES)
@pytest.mark.parametrize("stop", [0, 1, 7])
def test_resume_equals_the_uninterrupted_run_to_the_bit(name, arguments, stop, device):
    params = parameters(SHAPES, device=device)
    whole = copies(params)
    train(ours(name, whole, arguments), 1, 16)
    first = ours(name, params, arguments)
    train(first, 1, 1 + stop)
    saved = through_file(first.state_dict())
    resumed = copies(params)
    second = ours(name, resumed, arguments)
    second.load_state_dict(saved)
    train(second, 1 + stop, 16)
    assert all(same(p, q) for p, q in zip(resumed, whole))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("features", [{}, {"master_weights": True}, {"low_precision_copy": torch.float16},
                                      {"ema_decay": 0.9}, {"state_dtype": torch.bfloat16}], ids=str)
def test_resume_with_features_is_bit_equal(dtype, features, device):
    params = parameters(SHAPES, dtype, device)
    whole = copies(params)
    last = fusewright.optim.AdamW(whole, lr=1e-2, **features)
    train(last, 1, 16)
    first = fusewright.optim.AdamW(params, lr=1e-2, **features)
    train(first, 1, 8)
    second = fusewright.optim.AdamW(params, lr=1e-2, **features)
    second.load_state_dict(through_file(first.state_dict()))
    train(second, 8, 16)
    expected = everything(last)
    assert {name: torch.equal(value, expected[name]) for name, value in everything(second).items()} == dict.fromkeys(expected, True)


def test_case_D01():
    """A plain Adam's state loads; what older ones lack has defaults, what Apex has in groups is understood."""
    params = parameters(SHAPES)
    plain = torch.optim.Adam(params)
    train(plain, 1, 4)
    saved = plain.state_dict()
    for group in saved["param_groups"]:
        for key in ("maximize", "foreach", "capturable", "differentiable", "fused", "amsgrad", "decoupled_weight_decay"):
            group.pop(key, None)
    optimizer = fusewright.optim.Adam(copies(params))
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["amsgrad"] is False
    train(optimizer, 4, 6)
    apex = {"state": {i: {k: v for k, v in state.items() if k != "step"} for i, state in saved["state"].items()},
            "param_groups": [{**saved["param_groups"][0], "bias_correction": True, "step": 3}]}
    other = fusewright.optim.Adam(copies(params))
    other.load_state_dict(apex)
    train(other, 4, 5)
    assert float(next(iter(other.state.values()))["step"]) == 4
    apex["param_groups"][0]["bias_correction"] = False
    with pytest.raises(ValueError, match="bias_correction: expected True, got False"):
        other.load_state_dict(apex)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_case_D03(dtype, device):
    """Moments in float32 with bits off the half grid come back as they were."""
    params = parameters(SHAPES, dtype, device)
    first = fusewright.optim.AdamW(params)
    train(first, 1, 4)
    second = fusewright.optim.AdamW(copies(params))
    second.load_state_dict(first.state_dict())
    for p, q in zip(params, second.param_groups[0]["params"]):
        for name in ("exp_avg", "exp_avg_sq"):
            value = first.state[p][name]
            assert value.dtype == torch.float32 and not torch.equal(value, value.to(dtype).float())
            assert same(second.state[q][name], value)
            assert second.state[q][name].data_ptr() != value.data_ptr()


def test_states_of_torch_keep_their_dtype():
    """torch.optim has the moments of bf16 parameters in bf16; asked for float32 they are."""
    params = parameters(SHAPES, torch.bfloat16)
    plain = torch.optim.AdamW(params)
    train(plain, 1, 4)
    for asked, expected in ((None, torch.bfloat16), (torch.float32, torch.float32)):
        optimizer = fusewright.optim.AdamW(copies(params), state_dtype=asked)
        optimizer.load_state_dict(plain.state_dict())
        state = optimizer.state[optimizer.param_groups[0]["params"][0]]
        assert state["exp_avg"].dtype == expected
        assert torch.equal(state["exp_avg"].float(), plain.state[params[0]]["exp_avg"].float())
        train(optimizer, 4, 6)
        assert state["exp_avg"].dtype == expected


def test_case_D05(device):
    """The saved counter is a 0-d float32 tensor of each parameter; the old form of one element loads."""
    params = parameters(SHAPES, device=device)
    optimizer = fusewright.optim.AdamW(params)
    train(optimizer, 1, 4)
    saved = optimizer.state_dict()
    steps = [state["step"] for state in saved["state"].values()]
    assert all(step.shape == () and step.dtype == torch.float32 and step.item() == 3 for step in steps)
    assert len({step.data_ptr() for step in steps}) == len(params)
    for form in (torch.tensor([3.0]), torch.tensor([[3]]), 3, 3.0, torch.tensor(3, dtype=torch.int64)):
        for state in saved["state"].values():
            state["step"] = form
        other = fusewright.optim.AdamW(copies(params))
        other.load_state_dict(saved)
        train(other, 4, 5)
        assert all(state["step"].shape == () and state["step"].item() == 4 for state in other.state_dict()["state"].values())
    saved["state"][0]["step"] = torch.tensor([3.0, 3.0])
    with pytest.raises(ValueError, match="step: expected one number, got a tensor of shape"):
        other.load_state_dict(saved)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_case_D07(dtype, device):
    """Moments of 16-bit parameters are float32 unless asked otherwise."""
    for asked, expected in ((None, torch.float32), (torch.bfloat16, torch.bfloat16)):
        (p,) = parameters([(5,)], dtype, device)
        optimizer = fusewright.optim.AdamW([p], state_dtype=asked)
        train(optimizer, 1, 2)
        assert {optimizer.state[p][name].dtype for name in ("exp_avg", "exp_avg_sq")} == {expected}


def test_case_D09(device):
    """Masters are made from the parameters where the loaded state has none, with a note."""
    params = parameters(SHAPES, torch.bfloat16, device)
    without = fusewright.optim.AdamW(params)
    train(without, 1, 4)
    optimizer = fusewright.optim.AdamW(params, master_weights=True)
    with pytest.warns(UserWarning, match="expected master weights in the loaded state, got none"):
        optimizer.load_state_dict(without.state_dict())
    optimizer.param_groups[0]["lr"] = 0.0
    before = [bits(p) for p in params]
    train(optimizer, 4, 5)
    for p, old in zip(params, before):
        master = optimizer.state[p]["master_param"]
        assert master.dtype == torch.float32 and torch.equal(master.to(torch.bfloat16), p)
        assert torch.equal(bits(p), old)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.load_state_dict(optimizer.state_dict())


def test_a_state_without_the_feature_leaves_it_out():
    params = parameters(SHAPES, torch.bfloat16)
    optimizer = fusewright.optim.AdamW(params, master_weights=True, ema_decay=0.9)
    train(optimizer, 1, 3)
    plain = fusewright.optim.AdamW(params)
    plain.load_state_dict(optimizer.state_dict())
    assert set(plain.state[params[0]]) == {"exp_avg", "exp_avg_sq", "step"}


def test_shapes_are_checked_before_anything_is_changed():
    params = parameters([(4,), (5,)])
    optimizer = fusewright.optim.AdamW(params)
    train(optimizer, 1, 3)
    saved = optimizer.state_dict()
    before = everything(optimizer)
    saved["state"][1]["exp_avg"] = torch.zeros(6)
    with pytest.raises(ValueError, match=r"exp_avg: expected shape \(5,\) as the parameter, got \(6,\)"):
        optimizer.load_state_dict(saved)
    assert all(torch.equal(value, before[name]) for name, value in everything(optimizer).items())
    with pytest.raises(ValueError, match="parameter group"):
        optimizer.load_state_dict({"state": {}, "param_groups": saved["param_groups"] * 2})


def test_hooks_of_state_dicts_see_the_whole():
    params = parameters(SHAPES)
    optimizer = fusewright.optim.AdamW(params)
    train(optimizer, 1, 3)
    calls = []
    optimizer.register_load_state_dict_pre_hook(lambda o, state: calls.append(("before", len(state["state"]))))
    optimizer.register_load_state_dict_post_hook(lambda o: calls.append(("behind", len(o.state), float(o.state[params[0]]["step"]))))
    optimizer.register_state_dict_pre_hook(lambda o: calls.append("save"))
    optimizer.load_state_dict(optimizer.state_dict())
    assert calls == ["save", ("before", 3), ("behind", 3, 2.0)]

    def doubled(o, state):
        return {**state, "state": {i: {**s, "step": torch.tensor(40.0)} for i, s in state["state"].items()}}

    handle = optimizer.register_load_state_dict_pre_hook(doubled)
    optimizer.load_state_dict(optimizer.state_dict())
    handle.remove()
    assert float(optimizer.state[params[0]]["step"]) == 40


def test_sgd_that_never_stepped_saves_no_buffer():
    """torch takes a buffer of zeros for one that was filled: the first step would be another."""
    params = parameters(SHAPES)
    optimizer = fusewright.optim.SGD(params, momentum=0.9, dampening=0.5, guard=True)
    gradients(params, 1)
    params[0].grad[0, 0] = float("inf")
    optimizer.step()
    saved = optimizer.state_dict()
    assert saved["state"][0]["momentum_buffer"] is None and float(saved["state"][0]["step"]) == 0
    plain = torch.optim.SGD(copies(params), momentum=0.9, dampening=0.5)
    plain.load_state_dict(saved)
    again = fusewright.optim.SGD(copies(params), momentum=0.9, dampening=0.5)
    again.load_state_dict(plain.state_dict())
    train(plain, 2, 4)
    train(again, 2, 4)
    close(plain.param_groups[0]["params"], again.param_groups[0]["params"], 2)


@pytest.mark.parametrize("way", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))], ids=["deepcopy", "pickle"])
def test_copies_leave_plans_behind_and_go_on(way, device):
    params = parameters(SHAPES, device=device)
    optimizer = fusewright.optim.AdamW(params, lr=1e-2, max_norm=1.0)
    torch.optim.lr_scheduler.StepLR(optimizer, 1)
    train(optimizer, 1, 4)
    twin = way(optimizer)
    assert type(twin) is fusewright.optim.AdamW and twin.statistics()["plans_kept"] == 0 and twin.max_norm == 1.0
    train(optimizer, 4, 8)
    train(twin, 4, 8)
    expected = everything(optimizer)
    assert all(torch.equal(value, expected[name]) for name, value in everything(twin).items())


def test_a_model_and_its_optimizer_are_copied_together():
    model = torch.nn.Linear(3, 2)
    optimizer = fusewright.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train(optimizer, 1, 3)
    other, twin = copy.deepcopy((model, optimizer))
    assert twin.param_groups[0]["params"][0] is other.weight
    train(optimizer, 3, 5)
    train(twin, 3, 5)
    assert torch.equal(model.weight, other.weight)


def test_replaced_states_are_seen():
    """As programs do that move states: for k, v in state.items(): state[k] = v.to(...)."""
    params = parameters(SHAPES)
    optimizer = fusewright.optim.AdamW(params)
    train(optimizer, 1, 4)
    whole = copies(params)
    twin = fusewright.optim.AdamW(whole)
    twin.load_state_dict(optimizer.state_dict())
    old = [value for state in optimizer.state.values() for value in state.values()]
    for state in optimizer.state.values():
        for name, value in list(state.items()):
            state[name] = value.clone()
    before = [bits(value) for value in old]
    train(optimizer, 4, 6)
    train(twin, 4, 6)
    assert all(same(p, q) for p, q in zip(params, whole))
    assert all(torch.equal(bits(value), was) for value, was in zip(old, before))
    optimizer.state = {p: dict(state) for p, state in optimizer.state.items()}
    optimizer.state[params[0]]["exp_avg"] = torch.zeros_like(params[0])
    train(optimizer, 6, 7)
    assert optimizer.state[params[0]]["exp_avg"].abs().sum() > 0


@pytest.mark.parametrize("way", ["setdefault", "|=", "the state's |="])
def test_states_are_replaced_by_every_method_of_dicts(way):
    p = torch.nn.Parameter(torch.ones(3))
    optimizer = fusewright.optim.AdamW([p], lr=0.1)
    p.grad = torch.ones(3)
    optimizer.step()
    new = {name: torch.full_like(value, 2.0) for name, value in optimizer.state[p].items()}
    if way == "setdefault":
        optimizer.state.pop(p)
        optimizer.state.setdefault(p, new)
    elif way == "|=":
        optimizer.state |= {p: new}
    else:
        state = optimizer.state[p]
        state |= new
    optimizer.step()
    assert optimizer.state[p]["step"].item() == 3 and torch.allclose(optimizer.state[p]["exp_avg"], torch.tensor(1.9))


def test_a_state_of_another_optimizer_is_told():
    parameter = torch.nn.Parameter(torch.zeros(3))
    other = torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
    parameter.grad = torch.ones(3)
    other.step()
    optimizer = fusewright.optim.AdamW([parameter])
    with pytest.warns(UserWarning, match="expected states .*exp_avg.*got momentum_buffer") as told:
        optimizer.load_state_dict(other.state_dict())
    assert told[0].filename == __file__
    assert not optimizer.state
    optimizer.step()
    assert set(optimizer.state[parameter]) == {"exp_avg", "exp_avg_sq", "step"} and optimizer.state[parameter]["step"].item() == 1
