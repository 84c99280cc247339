"""Plan.watch and Plan.step: every way in which a gradient or a parameter may have moved."""
import copy
import gc
import sys
import weakref

import pytest
import torch
from plans import AdamW, check_error

from fusewright import _C

SHAPES = [(4, 6), (3,), (0,), (5, 5)]


@pytest.fixture
def work(context):
    return AdamW(context, SHAPES, scalars={"lr": 0.01}).watch()


def check_step(work, t):
    expected = work.expected(t, lr=0.01)
    assert work.plan.step(0) == 0
    work.check(expected)
    assert work.step.item() == t


def check_left_out(work, t):
    """The plan no longer fits, and nothing has changed."""
    before = copy.deepcopy([[x.detach() for x in column] for column in (work.parameters, work.m, work.v)])
    assert work.plan.step(0) == 1
    for column, old in zip((work.parameters, work.m, work.v), before):
        assert all(torch.equal(a, b) for a, b in zip(column, old))
    assert work.step.item() == t


def test_numbers_of_watches(context):
    work = AdamW(context, SHAPES)
    assert work.plan.watch(0, "p", work.parameters) == 0
    assert work.plan.watch(group=0, operand="g", owners=tuple(work.parameters), attribute="grad") == 1
    assert work.plan.watch(0, "m", work.m, None) == 2


def test_new_gradients_at_each_step(work):
    for t in range(1, 5):
        for parameter in work.parameters:
            parameter.grad = None
        sum((p**2).sum() for p in work.parameters).backward()
        check_step(work, t)


def test_gradients_in_place(work):
    check_step(work, 1)
    for parameter in work.parameters:
        parameter.grad.mul_(2)
    check_step(work, 2)


def test_parameter_data_moves(work):
    check_step(work, 1)
    work.parameters[0].data = torch.randn(4, 6)
    check_step(work, 2)


def test_states_move(context):
    work = AdamW(context, SHAPES, scalars={"lr": 0.01}).watch()
    work.plan.watch(0, "m", work.m)
    work.m[1].set_(torch.ones(3))
    check_step(work, 1)


def test_a_mask_picks_watches(work):
    check_step(work, 1)
    old, new = work.parameters[0].grad, torch.randn(4, 6)
    expected = work.expected(2, lr=0.01)
    work.parameters[0].grad = new
    assert work.plan.step(0, watches=0b01) == 0  # looks at p alone: the plan still has the old gradient's address
    work.check(expected)
    check_step(work, 3)
    assert old is not new


@pytest.mark.parametrize("index", [0, 3])
def test_a_gradient_that_is_gone(work, index):
    check_step(work, 1)
    kept, work.parameters[index].grad = work.parameters[index].grad, None
    check_left_out(work, 1)
    work.parameters[index].grad = kept
    check_step(work, 2)


@pytest.mark.parametrize(
    "other",
    [
        lambda: torch.randn(6, 4).t(),
        lambda: torch.randn(8, 6)[::2],
        lambda: torch.zeros(()).expand(4, 6),
        lambda: torch.complex(torch.ones(4, 6), torch.ones(4, 6)).conj().imag,
        lambda: torch._neg_view(torch.ones(4, 6)),
    ],
)
def test_a_gradient_with_another_layout(work, other):
    """Traps 8 and 13: expanded, strided and lazily negated gradients have the dtype and the sizes of the old one."""
    check_step(work, 1)
    kept, work.parameters[0].grad = work.parameters[0].grad, other()
    check_left_out(work, 1)
    work.parameters[0].grad = kept
    check_step(work, 2)


def test_a_negated_view_of_the_same_memory(work):
    """Only the flag of the tensor is another: address, sizes and strides are as before."""
    check_step(work, 1)
    kept = work.parameters[0].grad
    work.parameters[0].grad = torch._neg_view(kept)
    assert work.parameters[0].grad.data_ptr() == kept.data_ptr()
    check_left_out(work, 1)


def test_a_sparse_gradient(context):
    work = AdamW(context, [(4, 6)]).watch()
    work.parameters[0].grad = torch.randn(4, 6).to_sparse()
    check_left_out(work, 0)


def test_a_subclass_as_gradient(work):
    class Own(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            raise NotImplementedError

    check_step(work, 1)
    work.parameters[3].grad = torch.ones(5, 5).as_subclass(Own)
    check_left_out(work, 1)


def test_parameter_data_of_another_layout(work):
    check_step(work, 1)
    work.parameters[3].data = torch.randn(5, 5).t()
    check_left_out(work, 1)


def test_parameter_data_of_another_dtype(work):
    check_step(work, 1)
    work.parameters[3].data = torch.randn(5, 5, dtype=torch.float64)
    check_left_out(work, 1)


def test_a_step_that_is_refused(work):
    """An error of the run: the addresses that moved are the plan's all the same, and nothing is written."""
    check_step(work, 1)
    for parameter in work.parameters:
        parameter.grad = torch.randn_like(parameter)
    check_error("USAGE", [">= 0"], lambda: work.plan.step(0, {"lr": -1.0}))
    assert work.step.item() == 1
    check_step(work, 2)


def test_watch_takes_what_the_plan_was_made_of(context):
    work = AdamW(context, SHAPES)
    check_error("USAGE", ["expected 4 owners of p", "got 3"], lambda: work.plan.watch(0, "p", work.parameters[:3]))
    check_error("USAGE", ["for p, got others"], lambda: work.plan.watch(0, "p", work.parameters[::-1]))
    check_error("USAGE", ["group below 1"], lambda: work.plan.watch(1, "p", []))
    check_error("USAGE", ["'w'"], lambda: work.plan.watch(0, "w", []))
    with pytest.raises(ValueError, match="None or 'grad', got 'data'"):
        work.plan.watch(0, "p", work.parameters, "data")
    with pytest.raises(TypeError, match="torch.Tensor"):
        work.plan.watch(0, "p", [1, 2, 3, 4])
    with pytest.raises(TypeError):
        work.plan.watch(0, "p", 5)
    kept, work.parameters[0].grad = work.parameters[0].grad, None
    check_error("USAGE", ["for g, got others"], lambda: work.plan.watch(0, "g", work.parameters, "grad"))
    work.parameters[0].grad = kept
    assert work.plan.watch(0, "p", work.parameters) == 0  # what was refused has left nothing


def test_watch_gives_the_plan_the_owners_addresses(context):
    """Owners may be other tensors of the same layout than those that the plan was made of."""
    work = AdamW(context, SHAPES, scalars={"lr": 0.01})
    work.m = [x.clone() for x in work.m]
    work.watch().plan.watch(0, "m", work.m)
    check_step(work, 1)


def test_number_of_watches(context):
    work = AdamW(context, [(2,)])
    for number in range(63):
        assert work.plan.watch(0, "p", work.parameters) == number
    check_error("USAGE", ["63 watches"], lambda: work.plan.watch(0, "p", work.parameters))
    assert work.plan.step(0) == 0


def test_watched_gradients_may_die(work):
    import weakref

    check_step(work, 1)
    gradient = weakref.ref(work.parameters[0].grad)
    work.parameters[0].grad = None
    assert gradient() is None


def test_roads():
    roads = _C.torch_roads()
    assert roads["builtin_methods"]
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    assert roads["exchange_api"] == (version >= (2, 10))
    assert roads["c_functions"] == (version >= (2, 5))


def test_current_stream():
    if torch.cuda.is_available():
        assert _C.current_stream(0) == torch.cuda.current_stream(0).cuda_stream
        with torch.cuda.stream(torch.cuda.Stream()):
            assert _C.current_stream(0) == torch.cuda.current_stream(0).cuda_stream != 0
    else:
        with pytest.raises(RuntimeError):
            _C.current_stream(0)
    with pytest.raises(ValueError):
        _C.current_stream(-1)


def test_exchanged_tensors(context):
    """torch.utils.swap_tensors: the same object is another tensor, and the old one may be gone."""
    work = AdamW(context, SHAPES, scalars={"lr": 0.01}).watch()
    check_step(work, 1)
    torch.utils.swap_tensors(work.parameters[0], torch.randn(4, 6))
    work.parameters[0].grad = torch.randn(4, 6)
    if _C.torch_roads()["c_functions"]:
        check_left_out(work, 1)
    else:
        check_step(work, 2)  # the object's address is asked for, whatever tensor it is


def test_a_transposed_square(work):
    check_step(work, 1)
    work.parameters[3].data = work.parameters[3].data.t()
    check_left_out(work, 1)


def test_versions_are_raised():
    tensors = [torch.randn(3), torch.nn.Parameter(torch.randn(2, 2)), torch.randn(())]
    before = [tensor._version for tensor in tensors]
    done = _C.raise_versions(tensors)
    assert done == _C.torch_roads()["c_functions"]
    assert [tensor._version for tensor in tensors] == [version + done for version in before]
    with torch.inference_mode():
        unversioned = torch.randn(3)
    assert _C.raise_versions([unversioned, tensors[0]]) == done
    for other in ((), [1.0], None):
        with pytest.raises(TypeError, match="expected a list of tensors"):
            _C.raise_versions(other)


def test_watches_keep_parameters_no_longer_than_the_plan(context):
    work = AdamW(context, SHAPES, scalars={"lr": 0.01}).watch()
    storages = [parameter.untyped_storage() for parameter in work.parameters]
    counts = [sys.getrefcount(storage) for storage in storages]
    watched = [weakref.ref(parameter) for parameter in work.parameters]
    work.parameters.clear()
    assert all(parameter() is not None for parameter in watched)
    del work
    gc.collect()
    assert [parameter() for parameter in watched] == [None] * len(SHAPES)
    assert [sys.getrefcount(storage) for storage in storages] <= counts



@pytest.mark.skipif(not hasattr(torch, "_lazy_clone"), reason="needs a torch with copy on write")
def test_memory_that_is_shared_until_it_is_written(work):
    check_step(work, 1)
    clone = torch._lazy_clone(work.parameters[0].detach())
    before = work.parameters[0].detach().clone()
    assert work.plan.step(0) == 0
    assert torch.equal(clone, before) and not torch.equal(work.parameters[0].detach(), before)


def test_gradients_in_place():
    owners = [torch.nn.Parameter(torch.zeros(2, 3)) for _ in range(3)]
    flat = torch.zeros(18)
    views = [flat[6 * i:6 * i + 6].view(2, 3) for i in range(3)]
    for owner, view in zip(owners[:2], views):
        owner.grad = view
    known = _C.torch_roads()["c_functions"]

    def in_place():
        return _C.has_gradients(owners, views, flat) if known else None

    assert in_place() is (True if known else None)
    owners[0].grad = torch.zeros(2, 3)
    assert in_place() is (False if known else None)
    owners[0].grad = views[0]
    views[0].data = torch.zeros(2, 3)
    assert in_place() is (False if known else None)
    for wrong in (((), views, flat), (owners, views[:2], flat), (owners, views, None)):
        with pytest.raises(TypeError, match="expected two lists of equal length"):
            _C.has_gradients(*wrong)


def test_gradients_live_as_long_as_a_run_on_the_cpu(context):
    """A run on the CPU lets other threads go on, and they may replace what it reads."""
    import threading

    size, stop = 1 << 20, threading.Event()
    work = AdamW(context, [(size,)] * 2).watch()

    def replace():
        while not stop.is_set():
            for parameter in work.parameters:
                parameter.grad = torch.ones(size)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        results = [work.plan.step(0) for _ in range(30)]
    finally:
        stop.set()
        thread.join()
    assert results == [0] * 30 and all(torch.isfinite(p).all() for p in work.parameters)
