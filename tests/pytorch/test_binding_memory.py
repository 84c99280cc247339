"""Memory stays flat, whatever is called how often, and errors leave nothing behind."""
import gc
import os
import sys
import time

import pytest
import torch
from plans import AdamW, entry_major, request_of

from fusewright import _C

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


LIMIT = 512 * 1024


def check_flat(call, times, warm=None):
    """The process grows by less than LIMIT in `times` calls behind the first ones, which fill caches and free lists; and by
    less than one block a call of Python's allocator, which the extension uses too."""
    for _ in range(warm or times):
        call()
    gc.collect()
    before, blocks = resident_bytes(), sys.getallocatedblocks()
    for _ in range(times):
        call()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 2 * times
    assert resident_bytes() - before < LIMIT


def test_400_steps(context):
    """With new gradients at each step, scalars in memory, and watches."""
    work = AdamW(context, [(8, 64)] * 100, scalars={"lr": torch.tensor(0.01)}).watch()

    def step():
        for parameter in work.parameters:
            parameter.grad = None
        sum(p.square().sum() for p in work.parameters).backward()
        assert work.plan.step(0, {"eps": 1e-6, "beta1": torch.tensor(0.9), "beta2": [0.99] * 100}) == 0

    check_flat(step, 400, warm=200)
    assert work.step.item() == 600


def test_plans_and_scalers_that_come_and_go(context):
    def make():
        work = AdamW(context, [(8, 64)] * 20).watch()
        work.plan.run(0)
        scaler = _C.Scaler(context)
        scaler.scale_tensor().item()
        scaler.update([torch.zeros(())], 0)
        work.plan.set_scalars(0, {"t": 1, "lr": scaler.scale_tensor()})
        work.plan.set_pointers(0, "g", [torch.ones(8, 64)] * 20)
        scaler.load(scaler.save(0), 0)

    check_flat(make, 100)


def test_requests_and_texts(context):
    def ask():
        request = request_of(context, features=["guard"], dtypes={"p": "bf16"})
        request.operands(), request.scalars(), request.text("semantic")
        program = request.compile()
        program.kernels(), program.key, program.origin
        context.op("lion").options, context.counters()
        columns = {name: [torch.ones(3, dtype=torch.bfloat16 if name in "pg" else torch.float32)] for name in "pgmv"}
        of_all = {operand["name"]: torch.zeros(()) for operand in request.operands() if operand["scope"] == "all"}
        request.evaluate(entry_major(request, {**columns, **of_all}), {"t": 1})

    check_flat(ask, 100)


def failing_calls(context):
    work = AdamW(context, [(4, 4), (3,)]).watch()
    plan, program, scaler = work.plan, work.program, _C.Scaler(context)
    good = work.tensors()
    bad = good[:5] + [torch.ones(3, device="meta")] + good[6:]
    parts = ([torch.ones(4, 4)], torch.ones(3, 3))
    return [
        lambda: context.op("nobody"),
        lambda: context.parse("fuse 1\nop a over elements { in x out }", "my.fuse"),
        lambda: context.parse("x", name=3),
        lambda: _C.Context(strict=7),
        lambda: request_of(context, target="potato").compile(),
        lambda: request_of(context, features=["nobody"]).operands(),
        lambda: request_of(context).evaluate(good[:3]),
        lambda: request_of(context).evaluate(good, {"t": 0}),
        lambda: request_of(context).schedule("a", "b"),
        lambda: _C.Plan(context, [(program, bad, {"t": 1})]),
        lambda: _C.Plan(context, [(program, good, {"t": 1}), (program, good[:3], None)]),
        lambda: _C.Plan(context, [(program, good, {"t": 1, "lr": torch.ones(2, 2)})]),
        lambda: _C.Plan(context, [(program, good, {"t": [1.0, 2.0, 3.0]})]),
        lambda: _C.Plan(context, [(program, good, {"t": [1.0, "x"]})]),
        lambda: plan.run(0, {"lr": -1.0, "eps": torch.tensor(1.0)}),
        lambda: plan.run(0, {"lr": [1.0, 2.0], "nobody": 1.0}),
        lambda: plan.step(0, {"lr": torch.ones(3, 3)}),
        lambda: plan.set_scalars(0, {"lr": [1.0] * 3}),
        lambda: plan.set_pointers(0, "g", parts),
        lambda: plan.watch(0, "p", [torch.ones(4, 4), torch.ones(9)]),
        lambda: plan.watch(0, "g", work.parameters, "potato"),
        lambda: _C.Counter(torch.ones(2, device="meta")),
        lambda: _C.Scaler(context, mode="magic", refill="x"),
        lambda: scaler.load({"nobody": 1.0, "scale": 2.0}, 0),
        lambda: scaler.update([torch.zeros(2)], 0),
    ]


def test_errors(context):
    calls = failing_calls(context)

    def fail():
        for call in calls:
            try:
                call()
            except (_C.Error, TypeError, ValueError):
                continue
            raise AssertionError("expected an error, got none")

    check_flat(fail, 100)


def test_references_of_errors(context):
    """Objects that take part in failing calls have as many references as before."""
    work = AdamW(context, [(4,), (3,)])
    good, lr = work.tensors(), torch.ones(3, 3)
    groups = [(work.program, good, {"t": 1, "lr": lr})]
    watched = [*good, lr, work.program, context, good, groups, groups[0], groups[0][2]]
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(50):
        with pytest.raises(_C.Error):
            _C.Plan(context, groups)
        with pytest.raises(_C.Error):
            work.plan.run(0, groups[0][2])
        with pytest.raises(_C.Error):
            work.plan.watch(0, "p", good[:3])
        with pytest.raises(_C.Error):
            work.plan.set_pointers(0, "p", good[:2])
    assert [sys.getrefcount(x) for x in watched] == before


def test_host_time_of_a_step(context, capsys):
    """Printed, since machines differ; the bound catches a road that was lost, not a slow minute. Nothing of the plan's own
    run counts: the same run without watches is taken off."""
    work = AdamW(context, [(8, 64)] * 1000).watch()

    def best(watches, rounds=10):
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            work.plan.step(0, None, None, watches)
            times.append(time.perf_counter() - start)
        return min(times) * 1e6

    best(3)
    run = best(0)
    owners, gradients = best(1) - run, best(2) - run
    with capsys.disabled():
        print(f"\n1000 parameters: addresses of parameters {owners:.0f} us, of gradients {gradients:.0f} us")
    assert owners < 2000 and gradients < 4000
