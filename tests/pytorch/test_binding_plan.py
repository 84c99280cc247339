"""Plan, Counter: numbers against the reference, every scalar, every error."""
import gc
import sys
import weakref

import numpy
import pytest
import torch
from plans import AdamW, check_error, check_within, entry_major, request_of

from fusewright import _C

SHAPES = [(8, 64), (3,), (), (0, 4), (5, 7, 2)]


def test_run(context):
    work = AdamW(context, SHAPES, scalars={"lr": 0.01})
    for t in (1, 2, 3):
        expected = work.expected(t, lr=0.01)
        work.plan.run(0)
        work.check(expected)
    assert work.step.item() == 3


def test_info(context):
    work = AdamW(context, SHAPES)
    info = work.plan.info()
    assert info["device"] == "cpu" and info["entries"] == 4 and info["elements"] == 8 * 64 + 3 + 1 + 70
    assert info["streamed_bytes"] == info["elements"] * 4 * 7 and info["launches"] == 1 and info["exchanges"] == 0


@pytest.mark.parametrize("value", [0.25, 1, True, numpy.float64(0.25), numpy.float32(0.25), [0.25] * 5, (0.5, 1, 2, 3, 4)])
def test_numbers(context, value):
    work = AdamW(context, SHAPES)
    given = list(value) if isinstance(value, (list, tuple)) else float(value)
    expected = work.expected(1, lr=given)
    work.plan.run(0, {"lr": value})
    work.check(expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (5,)])
def test_numbers_in_memory(context, dtype, shape):
    work = AdamW(context, SHAPES)
    lr = torch.full(shape, 2, dtype=dtype)
    expected = work.expected(1, lr=2.0)
    work.plan.run(stream=0, scalars={"lr": lr})
    work.check(expected)


def test_numbers_in_memory_are_read_by_each_run(context):
    lr = torch.tensor(0.5)
    work = AdamW(context, SHAPES, scalars={"lr": lr})
    for t, value in enumerate((0.5, 0.125), 1):
        lr.fill_(value)
        expected = work.expected(t, lr=value)
        work.plan.run(0)
        work.check(expected)


def test_a_run_wins_over_the_group_and_the_group_over_the_default(context):
    work = AdamW(context, SHAPES, scalars={"lr": 0.5})
    expected = work.expected(1, lr=0.25)
    work.plan.run(0, {"lr": 0.25})
    work.check(expected)
    work.plan.set_scalars(0, {"t": _C.Counter(work.step), "lr": 0.75})
    expected = work.expected(2, lr=0.75)
    work.plan.run(0)
    work.check(expected)
    work.plan.set_scalars(0, {"t": 3})
    expected = work.expected(3)
    work.plan.run(0)
    work.check(expected)
    assert work.step.item() == 2


def test_counter_per_entry(context):
    counter = torch.tensor([0, 4, 9, 0, 1], dtype=torch.int64)
    work = AdamW(context, SHAPES, counter=counter)
    expected = work.expected([1, 5, 10, 1, 2])
    work.plan.run(0)
    work.check(expected)
    assert counter.tolist()[:3] == [1, 5, 10] and counter[4] == 2
    assert work.scalars["t"].tensor is counter


def test_groups_of_two_dtypes(context):
    requests = [request_of(context, dtypes={"p": p, "g": p}) for p in ("f32", "bf16")]
    groups, columns, step = [], [], torch.zeros(())
    for request, dtype in zip(requests, (torch.float32, torch.bfloat16)):
        column = {name: [torch.randn(6, 5).abs().to(dtype if name in "pg" else torch.float32) for _ in range(2)] for name in "pgmv"}
        columns.append(column)
        groups.append((request.compile(), entry_major(request, column), {"t": _C.Counter(step)}))
    plan = _C.Plan(context, groups)
    expected = [request.evaluate([x.clone() for x in entry_major(request, column)], {"t": 1})
                for request, column in zip(requests, columns)]
    plan.run(0)
    for column, wanted in zip(columns, expected):
        for name in "pmv":
            check_within(torch.cat([x.double().reshape(-1) for x in column[name]]), wanted[name], name)
    assert step.item() == 1


def test_fp8_states(context):
    request = request_of(context, "cast", dtypes={"x": "f32", "y": "e4m3fn.sat"})
    x, y = torch.tensor([1.0, -600.0, 0.3]), torch.zeros(3, dtype=torch.float8_e4m3fn)
    _C.Plan(context, [(request.compile(), [x, y], None)]).run(0)
    assert y.float().tolist() == [1.0, -448.0, 0.3125]


def test_clip_over_groups(context):
    request = request_of(context, features=["clip", "guard"])
    names = [operand["name"] for operand in request.operands() if operand["scope"] == "all"]
    assert {"all.norm", "all.skipped"} <= set(names)
    of_all = {name: torch.full((), -1.0) for name in names}
    step, groups, gradients = torch.zeros(()), [], []
    for _ in range(2):
        column = {name: [torch.ones(10)] for name in "pgmv"}
        gradients += column["g"]
        groups.append((request.compile(), entry_major(request, {**column, **of_all}), {"t": _C.Counter(step)}))
    plan = _C.Plan(context, groups)
    plan.run(0, {"all.max_norm": 1.0})
    assert of_all["all.norm"].item() == pytest.approx(20**0.5, rel=1e-6) and of_all["all.skipped"].item() == 0
    gradients[1][3] = float("inf")
    plan.run(0, {"all.max_norm": 1.0})
    assert of_all["all.skipped"].item() != 0 and step.item() == 1


def test_plan_of_nothing(context):
    plan = _C.Plan(context, [])
    plan.run(0)
    assert plan.step(0) == 0 and plan.info()["entries"] == 0
    plan = _C.Plan(context, [(request_of(context).compile(), [], None)])
    plan.run(0, {"t": 1})


@pytest.mark.parametrize("name", ["channels_last", "transposed", "expanded gradient", "offset"])
def test_layouts(context, name):
    """Trap 8: gradients of sum().backward() are expanded, those of views have strides of their own."""
    shape = (2, 3, 4, 5)

    def laid_out(x):
        if name == "channels_last":
            return x.contiguous(memory_format=torch.channels_last)
        if name == "transposed":
            return x.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
        if name == "offset":
            return torch.cat([torch.zeros(1), x.reshape(-1)])[1:].reshape(shape)
        return x

    columns = {n: [laid_out(torch.randn(shape).abs())] for n in "pgmv"}
    if name == "expanded gradient":
        columns["g"] = [torch.randn(5).expand(shape)]
    request = request_of(context)
    expected = request.evaluate([x.detach().clone(memory_format=torch.preserve_format) for x in entry_major(request, columns)], {"t": 1})
    _C.Plan(context, [(request.compile(), entry_major(request, columns), {"t": 1})]).run(0)
    for n in "pmv":
        check_within(columns[n][0].detach().double().reshape(-1), expected[n], n)


def test_first_element_of_a_shard(context):
    """(tensor, number) is taken, and the number must be one."""
    work = AdamW(context, [(4,)])
    shards = [(tensor, 12) for tensor in work.tensors()]
    expected = work.expected(1)
    _C.Plan(context, [(work.program, shards, work.scalars)]).run(0)
    work.check(expected)
    with pytest.raises((TypeError, OverflowError)):
        _C.Plan(context, [(work.program, [(tensor, -1) for tensor in work.tensors()], work.scalars)])


def test_plan_keeps_no_tensors(context):
    work = AdamW(context, [(8, 8)])
    gradient, lr = weakref.ref(work.parameters[0].grad), torch.tensor(1.0)
    work.plan.set_scalars(0, {"t": _C.Counter(work.step), "lr": lr})
    before = sys.getrefcount(lr)
    for parameter in work.parameters:
        parameter.grad = None
    assert gradient() is None
    del work.plan
    assert sys.getrefcount(lr) == before - 1


def test_plan_keeps_what_runs_need(context, tmp_path):
    other = AdamW(_C.Context(tmp_path), [(9,)])
    plan, expected = other.plan, other.expected(1)
    del other.program, other.request, other.plan, other.scalars
    other.step, step = None, weakref.ref(other.step)
    gc.collect()
    plan.run(0)
    other.check(expected)
    assert step() is not None
    del plan
    assert step() is None


def test_cycles_are_collected(context):
    """A parameter that knows its plan: the plan keeps the parameter by its watch."""
    work = AdamW(context, [(3,)]).watch()
    work.parameters[0].plan = work.plan
    work.step.plan = work.plan
    alive = weakref.ref(work.parameters[0])
    del work
    gc.collect()
    assert alive() is None


# ---- Errors ----------------------------------------------------------------------------------------


def tensors_with(context, **changed):
    request = request_of(context)
    columns = {name: [torch.ones(4)] for name in "pgmv"}
    columns.update({name: [tensor] for name, tensor in changed.items()})
    return lambda: _C.Plan(context, [(request.compile(), entry_major(request, columns), {"t": 1})])


def lazily_negated():
    return torch.complex(torch.ones(4), torch.ones(4)).conj().imag


def fake(shape=(4,)):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(shape)


def distributed():
    """A DTensor of one rank, of a group that sends nothing."""
    try:
        from torch.distributed.tensor import DTensor, Replicate
    except ImportError:  # torch < 2.5
        from torch.distributed._tensor import DTensor, Replicate
    from torch.distributed.device_mesh import DeviceMesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", rank=0, world_size=1, store=FakeStore())
    return DTensor.from_local(torch.ones(4), DeviceMesh("cpu", [0]), [Replicate()], run_check=False)


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: torch.ones(4, device="meta"), ["g of entry 0", "device meta", "to_empty"]),
        (fake, ["g of entry 0", "got a FakeTensor", "FakeTensorMode"]),
        (distributed, ["g of entry 0", "got a DTensor", "to_local()"]),
        (lazily_negated, ["lazily negated view", "resolve_neg"]),
        (lambda: torch.ones(4).to_sparse(), ["torch.sparse_coo", "to_dense"]),
        (lambda: torch.ones(4, dtype=torch.float64), ["dtype f32", "f64"]),
        (lambda: torch.ones(4, dtype=torch.int32), ["dtype f32", "i32"]),
        (lambda: torch.ones(4, dtype=torch.complex64), ["dtype f32", "complex64"]),
        (lambda: torch.ones(5), ["shape"]),
        (lambda: torch.ones(8)[::2], ["stride"]),
        (lambda: torch.ones(()).expand(4), ["stride", "dense copy"]),
    ],
)
def test_tensors_that_are_refused(context, make, parts):
    try:
        check_error("USAGE", parts, tensors_with(context, g=make()))
    finally:
        if torch.distributed.is_initialized():  # for a DTensor
            torch.distributed.destroy_process_group()


def test_a_storage_without_memory(context):
    freed = torch.ones(4)
    freed.untyped_storage().resize_(0)
    check_error("USAGE", ["address 0"], tensors_with(context, g=freed))


def test_subclasses(context):
    class Marked(torch.Tensor):
        """Behaves as a tensor does, so its memory may be read."""

    class Own(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            raise NotImplementedError

    check_error("USAGE", ["got a Own"], tensors_with(context, g=torch.ones(4).as_subclass(Own)))
    work = AdamW(context, [(4,)], gradients=[torch.ones(4).as_subclass(Marked)])
    mine = type("Mine", (torch.nn.Parameter,), {})(work.parameters[0].detach())
    expected = work.expected(1)
    work.plan.set_pointers(0, "p", [mine])
    work.plan.run(0)
    work.check(expected)


def test_inside_of_vmap(context):
    """Trap 5: the wrappers of torch.func are plain tensors by their type."""

    def inner(g):
        tensors_with(context, g=g)()
        return g

    with pytest.raises(RuntimeError, match="data pointer"):
        torch.func.vmap(inner)(torch.ones(2, 4))


@pytest.mark.parametrize("groups", [None, 3, [3], [()], [(1, 2, 3)], [(None, [], {})]])
def test_groups_of_other_types(context, groups):
    with pytest.raises(TypeError):
        _C.Plan(context, groups)
    with pytest.raises(TypeError):
        _C.Plan(None, [])


def test_tensors_of_other_types(context):
    program = request_of(context).compile()
    for wrong in (3, "g", [1.0], numpy.ones(4)):
        with pytest.raises(TypeError, match="torch.Tensor"):
            _C.Plan(context, [(program, [torch.ones(4), wrong, torch.ones(4), torch.ones(4)], {"t": 1})])
    with pytest.raises(TypeError):
        _C.Plan(context, [(program, 3, None)])


def test_wrong_number_of_tensors(context):
    check_error("USAGE", ["multiple of 4", "got 3"], lambda: _C.Plan(context, [(request_of(context).compile(), [torch.ones(1)] * 3, None)]))


def test_shared_memory(context):
    same = torch.ones(4)
    check_error("USAGE", ["group 0"], tensors_with(context, p=same, m=same))


def run_with(context, **scalars):
    work = AdamW(context, [(4,), (2,)])
    before = [p.detach().clone() for p in work.parameters]

    def call():
        try:
            work.plan.run(0, scalars)
        finally:
            assert all(torch.equal(a, b) for a, b in zip(before, work.parameters)) and work.step.item() == 0

    return call


@pytest.mark.parametrize(
    ("scalars", "parts"),
    [
        ({"lrr": 1.0}, ["lrr"]),
        ({"lr": -1.0}, ["lr", ">= 0"]),
        ({"beta1": 1.0}, ["beta1", "[0, 1)"]),
        ({"t": 0}, ["t"]),
        ({"lr": []}, ["empty list"]),
        ({"lr": [1.0, 2.0, 3.0]}, ["3"]),
        ({"lr": torch.ones(2, 2)}, ["2 dimensions", "contiguous"]),
        ({"lr": torch.ones(4)[::2]}, ["dense"]),
        ({"lr": torch.ones(0)}, ["one per entry"]),
        ({"lr": torch.ones(2, dtype=torch.bfloat16)}, ["bfloat16"]),
        ({"lr": torch.ones((), device="meta")}, ["lr", "meta"]),
        ({"lr": torch.ones(3)}, ["3"]),
    ],
)
def test_scalars_that_are_refused(context, scalars, parts):
    """And nothing is written."""
    check_error("USAGE", parts, run_with(context, **scalars))


@pytest.mark.parametrize("scalars", [{"lr": None}, {"lr": "1"}, {"lr": ["1"]}, {1: 1.0}, {"lr": 1j}])
def test_scalars_of_other_types(context, scalars):
    work = AdamW(context, [(4,)])
    for call in (lambda: work.plan.run(0, scalars), lambda: work.plan.set_scalars(0, scalars)):
        with pytest.raises(TypeError):
            call()
    for wrong in ([], 3, "x"):
        with pytest.raises(TypeError, match="dict"):
            work.plan.run(0, wrong)


def test_invented_names(context):
    work = AdamW(context, [(4,)])
    for number in range(3000):
        with pytest.raises(_C.Error, match=f"name{number}"):
            work.plan.run(0, {f"name{number}": 1.0})
    expected = work.expected(1, lr=1.0)
    work.plan.run(0, {"lr": 1.0})
    work.check(expected)


def test_stream_and_keywords(context):
    work = AdamW(context, [(4,)])
    with pytest.raises(TypeError):
        work.plan.run("0")
    with pytest.raises(ValueError, match="stream"):
        work.plan.run(-1)
    with pytest.raises(TypeError):
        work.plan.run()
    with pytest.raises(TypeError):
        work.plan.run(0, wurld=None)
    with pytest.raises(TypeError):
        work.plan.step(0, watches="all")


def test_groups_and_operands_that_are_not_there(context):
    work = AdamW(context, [(4,)])
    check_error("USAGE", ["group below 1", "got 1"], lambda: work.plan.set_scalars(1, {}))
    check_error("USAGE", ["group below 1"], lambda: work.plan.set_pointers(1, "g", []))
    check_error("USAGE", ["'w'"], lambda: work.plan.set_pointers(0, "w", []))
    check_error("USAGE", ["1 tensors", "got 2"], lambda: work.plan.set_pointers(0, "g", [torch.ones(4)] * 2))
    with pytest.raises(TypeError):
        work.plan.set_pointers(0, 3, [])


def test_set_pointers(context):
    work = AdamW(context, [(4, 6), (3,)])
    for parameter in work.parameters:
        parameter.grad = torch.randn_like(parameter)
    expected = work.expected(1)
    work.plan.set_pointers(0, "g", [p.grad for p in work.parameters])
    work.plan.run(0)
    work.check(expected)


@pytest.mark.parametrize("wrong", [torch.ones(6, 4), torch.ones(6, 4).t(), torch.ones(4, 6, dtype=torch.float64), torch.ones(24)])
def test_set_pointers_keeps_layouts(context, wrong):
    work = AdamW(context, [(4, 6)])
    expected = work.expected(1)
    check_error("USAGE", ["g of entry 0", "new plan"], lambda: work.plan.set_pointers(0, "g", [wrong]))
    work.plan.run(0)
    work.check(expected)


# ---- Ranks -----------------------------------------------------------------------------------------


NORM = """fuse 1

op norm over elements {
  in x;  out n[all]
  n = sqrt(sum[world](x^2))   # E1
}
"""


def norm_plan(context):
    request = context.parse(NORM).request()
    x, n = torch.tensor([3.0, 0.0]), torch.zeros(())
    return _C.Plan(context, [(request.compile(), [x, n], None)]), n, x


def test_world(context):
    """The callable reduces float64 numbers in place: here a second rank has a sum of 16."""
    plan, n, x = norm_plan(context)
    calls = []

    def all_reduce(numbers, kind):
        calls.append((kind, numbers.dtype, numbers.tolist()))
        numbers += 16

    plan.run(0, None, all_reduce)
    assert n.item() == 5.0 and calls == [("sum", torch.float64, [9.0])]
    assert plan.step(0, world=all_reduce) == 0 and len(calls) == 2 and plan.info()["exchanges"] == 1
    plan.run(0)
    assert n.item() == 3.0


def test_world_that_raises(context):
    """Its own exception comes out, nothing is written, and the plan goes on."""
    plan, n, x = norm_plan(context)

    def all_reduce(numbers, kind):
        raise KeyError("rank 1 is gone")

    with pytest.raises(KeyError, match="rank 1 is gone"):
        plan.run(0, None, all_reduce)
    assert n.item() == 0.0
    plan.run(0)
    assert n.item() == 3.0
    with pytest.raises(TypeError):
        plan.run(0, None, 5)


def test_world_must_not_use_the_plan(context):
    plan, n, x = norm_plan(context)
    errors = []

    def all_reduce(numbers, kind):
        for call in (lambda: plan.run(0), lambda: plan.step(0), lambda: plan.set_scalars(0, None),
                     lambda: plan.set_pointers(0, "x", []), lambda: plan.watch(0, "x", [])):
            errors.append(check_error("USAGE", ["inside a call"], call))

    plan.run(0, None, all_reduce)
    assert len(errors) == 5 and n.item() == 3.0
