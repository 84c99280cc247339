"""Context, Op, Request, Program, Error: every method, and every way to call it wrongly."""
import gc
import os
import subprocess
import sys
import threading

import pytest
import torch
from plans import AdamW, check_error, request_of

from fusewright import _C


def test_versions():
    import fusewright

    assert _C.versions() == {"fusewright": fusewright.__version__, "api": ".".join(fusewright.__version__.split(".")[:2])}


def test_shipped_ops(context):
    names = _C.shipped_ops()
    assert names == sorted(names) and {"adamw", "sgd", "lion", "unscale"} <= set(names)
    assert [context.op(name).name for name in names] == names


def test_op(context):
    op = context.op("adamw")
    assert op.options["decay"] == ("decoupled", "l2") and op.options["amsgrad"] == ("false", "true")
    assert {"unscale", "clip", "guard"} <= set(op.features)
    assert len(op.hash) == 64 and op.hash == context.op("adamw").hash != context.op("sgd").hash


def test_unknown_op(context):
    check_error("USAGE", ["adamx"], lambda: context.op("adamx"))


def own_op_text():
    """The text of a shipped op serves as a file of the user's."""
    from pathlib import Path

    return (Path(__file__).resolve().parent.parent.parent / "ops/optimizers/sgd.fuse").read_text()


def test_parse(context):
    op = context.parse(own_op_text(), "my.fuse", "sgd")
    assert op.name == "sgd" and op.hash == context.op("sgd").hash
    assert context.parse(own_op_text()).hash == op.hash
    assert context.parse(text=own_op_text(), name="sgd").hash == op.hash


def test_parse_errors_name_the_place(context):
    broken = own_op_text().replace("param", "parm", 1)
    error = check_error("OP_TEXT", [], lambda: context.parse(broken, "my.fuse"))
    line = next(number for number, text in enumerate(broken.splitlines(), 1) if "parm" in text)
    assert error.file == "my.fuse" and error.line == line and error.column > 0 and "my.fuse" in error.log


@pytest.mark.parametrize("arguments", [(), (1,), ("a", 2), ("a", "b", 3), ("a", "b", "c", "d"), ("nul\0",)])
def test_parse_refuses_other_types(context, arguments):
    with pytest.raises((TypeError, ValueError)):
        context.parse(*arguments)


def test_keywords(context):
    with pytest.raises(TypeError, match="unexpected argument 'fail'"):
        context.parse("", fail="x")
    with pytest.raises(TypeError, match="two values for 'text'"):
        context.parse("", text="")
    with pytest.raises(TypeError, match="misses the argument 'value'"):
        context.op("sgd").request().option("nesterov")


def test_request_operands_and_scalars(context):
    request = request_of(context, dtypes={"p": "bf16", "state": "f32"}, features=["guard"])
    operands = {operand["name"]: operand for operand in request.operands()}
    assert operands["p"]["dtype"] == "bf16" and operands["p"]["role"] == "param" and operands["p"]["written"] is True
    assert operands["g"]["written"] is False and operands["g"]["read"] is True
    assert operands["m"]["dtype"] == "f32" and operands["m"]["init"] == 0.0
    assert operands["all.skipped"]["scope"] == "all"
    scalars = {scalar["name"]: scalar for scalar in request.scalars()}
    assert scalars["t"]["is_step"] is True and scalars["beta1"]["value"] == 0.9 and scalars["beta1"]["range"] == "in [0, 1)"


def test_absent_and_schedule(context):
    request = context.op("axpby").request()
    optional = [operand["name"] for operand in request.operands() if operand["optional"]]
    for name in optional:
        request.absent(name)
    request.schedule("unroll", 2)
    with pytest.raises(TypeError):
        request.schedule("unroll", "2")
    with pytest.raises(OverflowError):
        request.schedule("unroll", 1 << 70)


@pytest.mark.parametrize("note", [("dtype", "nobody", "f32"), ("dtype", "p", "f33"), ("option", "nobody", "x"), ("option", "decay", "x"),
                                  ("feature", "nobody"), ("absent", "p")])
def test_requests_that_do_not_fit(context, note):
    request = context.op("adamw").request()
    getattr(request, note[0])(*note[1:])
    error = check_error("USAGE", [], request.operands)
    assert str(error) == str(check_error("USAGE", [], request.compile)) == str(check_error("USAGE", [], lambda: request.text("semantic")))


def test_unknown_target_and_stage(context):
    check_error("USAGE", ["potato"], request_of(context, target="potato").compile)
    check_error("USAGE", ["potato"], lambda: context.op("sgd").request().text("potato"))


def test_compile(context, tmp_path):
    fresh = _C.Context(cache_dir=tmp_path)
    program = request_of(fresh).compile()
    assert program.origin == "compiled" and program.compile_ms > 0 and len(program.key) == 64
    again = request_of(fresh).compile()
    assert again.origin == "memory" and again.key == program.key
    assert request_of(_C.Context(str(tmp_path))).compile().origin == "disk"
    counters = fresh.counters()
    assert counters["compiles"] == 1 and counters["memory_hits"] == 1 and counters["launches"] == 0
    kernel, = program.kernels()
    assert kernel["target"].startswith("cpu") and kernel["image_bytes"] > 0 and "adamw" in kernel["symbol"]


def test_strict(tmp_path):
    strict = _C.Context(tmp_path, strict=1)
    check_error("STRICT_MISS", [], request_of(strict).compile)


def test_text_of_stages(context):
    assert "adamw" in request_of(context).text("semantic")
    assert "sqrt" in request_of(context, target="sm_90").text("cuda")


def test_devices(context):
    if not torch.cuda.is_available():
        check_error("DEVICE", ["driver"], context.devices)
    else:
        names = [device["name"] for device in context.devices()]
        assert names == [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def test_preload_on_a_cpu(context):
    request_of(context).compile().preload(0)  # has no driver to be loaded into
    with pytest.raises(TypeError):
        request_of(context).compile().preload("0")
    with pytest.raises(ValueError):
        request_of(context).compile().preload(-1)


@pytest.mark.parametrize("type_name", ["Op", "Request", "Program"])
def test_types_that_others_make(type_name):
    with pytest.raises(TypeError, match="Context"):
        getattr(_C, type_name)()


def test_context_refuses_other_arguments():
    with pytest.raises(TypeError):
        _C.Context(7)
    with pytest.raises(TypeError):
        _C.Context(strict="yes")
    check_error("USAGE", [], lambda: _C.Context(strict=5))


def test_objects_keep_what_they_need(tmp_path):
    """Each outlives the one that it was made from."""
    program = _C.Context(tmp_path).op("sgd").request().compile()
    gc.collect()
    assert program.kernels()[0]["symbol"]


def test_a_request_of_two_threads(context, tmp_path):
    """A compile runs without the GIL, and another thread that takes the same request is told so."""
    request = request_of(_C.Context(tmp_path), features=["clip", "guard", "ema"])
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(request.compile()))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            request.operands()
        except _C.Error as error:
            assert error.code == "USAGE" and "thread" in str(error)
            refused += 1
    thread.join()
    assert outcomes[0].origin == "compiled" and refused > 0
    assert request.compile().origin == "memory"


def test_threads_compile_at_once(tmp_path):
    shared = _C.Context(tmp_path)
    keys = []

    def work(op):
        keys.append((op, request_of(shared, op).compile().key))

    threads = [threading.Thread(target=work, args=(op,)) for op in ("sgd", "lion", "adam") * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 9 and len(set(keys)) == 3 and shared.counters()["compiles"] == 3


def test_error_pickles():
    import pickle

    with pytest.raises(_C.Error) as caught:
        _C.Context(strict=5)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.code, copy.remedy) == (str(caught.value), caught.value.code, caught.value.remedy)


FORK = """
import os, sys, torch
sys.path.insert(0, {tests!r})
import fusewright
from plans import AdamW
parent = AdamW(fusewright.context(), [(5, 7), (300,)])
parent.plan.run(0)
child = os.fork()
if child == 0:
    expected = parent.expected(2.0)
    parent.plan.run(0)
    parent.check(expected)
    other = AdamW(fusewright.context(), [(4,)])
    expected = other.expected(1.0)
    other.plan.run(0)
    other.check(expected)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_fork():
    """A child goes on with its parent's plan, and makes plans of its own."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK.format(tests=os.path.dirname(__file__))], check=True, timeout=120)


def test_steps_in_threads(context):
    """A plan for each thread, all at once on the core's threads."""
    works = [AdamW(context, [(33, 65), (1000,)], seed=seed) for seed in range(4)]
    expected = [work.expected(1.0) for work in works]
    threads = [threading.Thread(target=work.plan.run, args=(0,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for work, wanted in zip(works, expected):
        work.check(wanted)
