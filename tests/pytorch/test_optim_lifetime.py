"""What an optimizer keeps alive and for how long: memory over many steps, gradients, itself."""
import gc
import os
import weakref

import pytest
import torch

import fusewright.optim
from fusewright.optim import AdamW
from optim_reference import gradients, parameters


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("drops", [True, False], ids=["gradients made anew", "gradients kept"])
def test_memory_stays_flat_over_400_steps(drops):
    params = parameters([(64, 65), (64,), (3, 5, 7)] * 8)
    optimizer = AdamW(params, max_norm=1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: 1 / (1 + t))

    def steps(n):
        for t in range(n):
            if drops or params[0].grad is None:
                gradients(params, t)
            optimizer.step()
            schedule.step()
            if drops:
                optimizer.zero_grad()
        gc.collect()
        return resident()

    steps(100)
    before = steps(10)
    assert steps(400) - before < 2 << 20
    assert optimizer.statistics()["plans_made"] == 1


def test_gradients_are_not_kept_alive():
    params = parameters([(8,)])
    optimizer = AdamW(params)
    gradients(params, 1)
    optimizer.step()
    alive = weakref.ref(params[0].grad)
    params[0].grad = None
    gc.collect()
    assert alive() is None


def test_an_optimizer_that_is_dropped_goes_away():
    params = parameters([(8,)])
    optimizer = AdamW(params)
    gradients(params, 1)
    optimizer.step()
    gone = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert gone() is None


def test_the_step_leaves_torch_alone():
    """No gradient mode, no default dtype, no random state is touched."""
    params = parameters([(8,)])
    optimizer = AdamW(params, max_norm=1.0, guard=True)
    gradients(params, 1)
    state = torch.get_rng_state()
    optimizer.step()
    assert torch.is_grad_enabled() and torch.equal(torch.get_rng_state(), state)
    assert params[0].requires_grad and params[0].is_leaf


def test_statistics_say_what_is_kept():
    params = parameters([(8,), (4,)])
    optimizer = AdamW(params)
    assert optimizer.statistics() == {"plans_made": 0, "plans_kept": 0, "gradients_copied": 0, "plans": []}
    gradients(params, 1)
    optimizer.step()
    told = optimizer.statistics()
    assert told["plans_made"] == told["plans_kept"] == 1 and told["plans"][0]["elements"] == 12


def test_import_makes_no_context():
    import subprocess
    import sys

    code = "import fusewright.optim, fusewright.context as c, sys; sys.exit(sys.modules['fusewright.context']._context is not None)"
    assert subprocess.run([sys.executable, "-c", code], env=dict(os.environ)).returncode == 0


def test_the_class_tells_its_op():
    assert fusewright.optim.AdamW(parameters([(2,)]))._info.op.name == "adamw"
