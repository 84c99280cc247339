"""Scaler: the loss scale of a device, against the rule that torch.amp.GradScaler has."""
import gc
import math
import weakref

import pytest
import torch
from plans import AdamW, check_error, entry_major, request_of

from fusewright import _C


def reports(skipped):
    return [torch.full((), float(number)) for number in skipped]


def test_scale_moves_as_torch_moves_it(context):
    scaler = _C.Scaler(context, init_scale=8.0, growth_interval=2, growth_factor=4.0, backoff_factor=0.25)
    reference = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2, growth_factor=4.0, backoff_factor=0.25)
    reference.scale(torch.ones(()))
    scale = scaler.scale_tensor()
    assert scale.shape == () and scale.dtype == torch.float32 and scale.item() == 8.0
    for skip in (0, 0, 1, 0, 1, 1, 0, 0, 0):
        scaler.update(reports([skip]), 0)
        torch._amp_update_scale_(reference._scale, reference._growth_tracker, torch.full((), float(skip)), 4.0, 0.25, 2)
        assert scale.item() == reference._scale.item() and scaler.read()["growth_count"] == reference._growth_tracker.item()
    state = scaler.read()
    assert state["updates"] == 9 and state["skips"] == 3 and state["skips_in_a_row"] == 0 and state["outcome"] == "applied"


def test_several_optimizers(context):
    scaler = _C.Scaler(context, init_scale=16.0)
    scaler.update(reports([0] * 7 + [1]), stream=0)
    state = scaler.read()
    assert (state["scale"], state["previous_scale"], state["report"], state["outcome"]) == (8.0, 16.0, 7, "bad_gradient")
    check_error("USAGE", ["at most 8"], lambda: scaler.update(reports([0] * 9), 0))
    check_error("USAGE", [], lambda: scaler.update([], 0))
    assert scaler.read()["updates"] == 1


def test_save_and_load(context):
    scaler = _C.Scaler(context, init_scale=4.0, growth_interval=3)
    for skip in (0, 1, 0):
        scaler.update(reports([skip]), 0)
    saved = scaler.save(0)
    assert saved["scale"] == 2.0 and all(type(number) is float for number in saved.values())
    other = _C.Scaler(context, init_scale=4.0, growth_interval=3)
    other.load(saved, 0)
    assert other.save(0) == saved and other.scale_tensor().item() == 2.0
    check_error("USAGE", [], lambda: other.load({"scale": -1.0}, 0))
    check_error("USAGE", ["nobody"], lambda: other.load({"nobody": 1.0}, stream=0))
    assert other.save(0) == saved
    for wrong in ([], {"scale": "1"}, {1: 1.0}):
        with pytest.raises(TypeError):
            other.load(wrong, 0)
    check_error("USAGE", ["at most 64"], lambda: other.load({f"n{i}": 1.0 for i in range(70)}, 0))


def test_static(context):
    scaler = _C.Scaler(context, mode="static", init_scale=128.0)
    scaler.update(reports([1]), 0)
    assert scaler.read()["scale"] == 128.0 and scaler.read()["skips"] == 1


@pytest.mark.parametrize("options", [{"mode": "magic"}, {"refill": "never"}, {"denormals": "x"}, {"device": "tpu"}, {"growth_factor": 0.5},
                                     {"backoff_factor": 1.0}, {"init_scale": math.nan}, {"growth_interval": 0}, {"hysteresis": 0}])
def test_options_that_are_refused(context, options):
    check_error("USAGE", [], lambda: _C.Scaler(context, **options))


def test_options_of_other_types(context):
    for options in ({"mode": 1}, {"init_scale": "1"}, {"growth_interval": 2.5}, {"scale": 1.0}):
        with pytest.raises(TypeError):
            _C.Scaler(context, **options)
    with pytest.raises(TypeError):
        _C.Scaler()
    with pytest.raises(TypeError):
        _C.Scaler(context, 3)


def test_claim(context):
    scaler, owner = _C.Scaler(context), object()
    scaler.claim(owner)
    check_error("USAGE", [], lambda: scaler.claim(owner))
    scaler.update(reports([0]), 0)
    scaler.claim(owner)
    scaler.release(owner)
    scaler.claim(owner)


def test_a_report_that_is_no_tensors_number(context):
    scaler = _C.Scaler(context)
    scaler.update(reports([-2]), 0)
    state = scaler.read()
    assert (state["outcome"], state["tensor"], state["skips"]) == ("bad_number", -1, 1)


def test_wait_does_nothing_on_a_cpu(context):
    scaler = _C.Scaler(context)
    scaler.update(reports([1]), 0)
    scaler.wait(0)
    assert scaler.read()["skips"] == 1


@pytest.mark.parametrize("wrong", [torch.zeros(2), torch.zeros((), dtype=torch.float64), torch.zeros((), device="meta")])
def test_reports_that_are_refused(context, wrong):
    scaler = _C.Scaler(context)
    check_error("USAGE", ["skipped"], lambda: scaler.update([wrong], 0))
    with pytest.raises(TypeError):
        scaler.update([0.0], 0)


def test_the_tensor_keeps_the_scaler(context):
    scaler = _C.Scaler(context, init_scale=32.0)
    scale = scaler.scale_tensor()
    del scaler
    gc.collect()
    assert (scale * 2).item() == 64.0


def test_scale_as_a_scalar_of_plans(context):
    """A step with unscale and guard reads the scaler's memory and reports; the reference divides by the same scale."""
    scaler = _C.Scaler(context, init_scale=8.0, growth_interval=1)
    assert scaler.scalar() is not None
    features = ["unscale", "guard"]
    request = request_of(context, features=features)
    of_all = {operand["name"]: torch.zeros(()) for operand in request.operands() if operand["scope"] == "all"}
    column = {name: [torch.randn(9).abs()] for name in "pgmv"}
    step = torch.zeros(())
    plan = _C.Plan(context, [(request.compile(), entry_major(request, {**column, **of_all}), {"t": _C.Counter(step), "all.scale": scaler.scalar()})])
    plain = AdamW(context, [(9,)])
    for mine, theirs in (("p", plain.parameters), ("m", plain.m), ("v", plain.v)):
        theirs[0].data.copy_(column[mine][0])
    plain.parameters[0].grad.copy_(column["g"][0] / 8)
    plan.run(0)
    plain.plan.run(0)
    assert torch.equal(column["p"][0], plain.parameters[0].detach()) and torch.equal(column["m"][0], plain.m[0])
    scaler.update([of_all["all.skipped"]], 0)
    assert scaler.read()["scale"] == 16.0
    column["g"][0][4] = math.nan
    plan.run(0, {"all.scale": scaler.scalar()})
    scaler.update([of_all["all.skipped"]], 0)
    assert scaler.read()["outcome"] == "bad_gradient" and scaler.read()["scale"] == 8.0 and step.item() == 1


def test_plan_keeps_the_scaler(context):
    work = AdamW(context, [(4,)], features=["unscale"])
    scaler = _C.Scaler(context, init_scale=2.0)
    work.plan.set_scalars(0, {"t": 1, "all.scale": scaler})
    scale = scaler.scale_tensor()
    del scaler
    gc.collect()
    expected = work.expected(1, **{"all.scale": 2.0})
    work.plan.run(0)
    work.check(expected)
    assert scale.item() == 2.0
    assert weakref.ref(scale)() is scale


def test_scalars_of_two_devices(context):
    """Numbers in memory are on the plan's device."""
    if not torch.cuda.is_available():
        return
    work = AdamW(context, [(4,)])
    check_error("USAGE", ["cpu:0"], lambda: work.plan.run(0, {"lr": torch.ones((), device="cuda")}))


def test_numbers_that_grow_the_dict(context):
    """A number's own code may change the dict that is being read."""
    scaler = _C.Scaler(context, device="cpu")

    class Growing:
        def __float__(self):
            for i in range(300):
                state[f"more {i}"] = 1.0
            return 1.0

    state = {"scale": Growing()}
    with pytest.raises((_C.Error, RuntimeError)):
        scaler.load(state, 0)
    assert scaler.read()["updates"] == 0
