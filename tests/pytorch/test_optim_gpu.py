"""Steps on a GPU: in graphs, without waiting, on the stream they are called on."""
import os

import pytest
import torch

from fusewright.optim import SGD, AdamW
from optim_reference import bits, copies, everything, gradients, parameters, same

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:.*lose updates")]
SHAPES = [(7, 5), (33,), (0,), (2, 3, 4), (70, 70)]
KINDS = {
    "AdamW": lambda p: AdamW(p, lr=torch.tensor(0.1, device="cuda")),
    "all features": lambda p: AdamW(p, lr=torch.tensor(0.1, device="cuda"), amsgrad=True, max_norm=0.5, ema_decay=0.9, guard=True,
                                    zero_gradients=True),
    "SGD": lambda p: SGD(p, lr=torch.tensor(0.1, device="cuda"), momentum=0.9),
}


def static_gradients(params):
    for p in params:
        p.grad = torch.zeros_like(p)


def fill(params, t):
    """New values in the same memory."""
    kept = [p.grad for p in params]
    gradients(params, t)
    for p, gradient in zip(params, kept):
        gradient.copy_(p.grad)
        p.grad = gradient


@pytest.mark.parametrize("kind", KINDS)
def test_a_captured_step_is_replayed_with_its_counters(kind):
    """After one step outside; the learning rate lives on the device."""
    params = parameters(SHAPES, device="cuda")
    alone = copies(params)
    first, second = KINDS[kind](params), KINDS[kind](alone)
    static_gradients(params)
    static_gradients(alone)
    for t in range(2):
        for members, optimizer in ((params, first), (alone, second)):
            fill(members, t)
            optimizer.step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        first.step()
    for t in range(2, 8):
        for members, optimizer in ((params, first), (alone, second)):
            fill(members, t)
            optimizer.param_groups[0]["lr"].fill_(0.1 / t)
        graph.replay()
        second.step()
    expected = everything(second)
    assert {name: torch.equal(value, expected[name]) for name, value in everything(first).items()} == dict.fromkeys(expected, True)
    fill(params, 9)
    fill(alone, 9)
    first.step()  # and eagerly beside the graph
    second.step()
    assert all(same(p, q) for p, q in zip(params, alone))
    graph.replay()
    second.step()
    torch.cuda.synchronize()
    del graph


def test_a_whole_scaled_step_in_a_graph():
    """Forward, backward and a step that is skipped by what the device sees."""
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 4).cuda()
    optimizer = AdamW(model.parameters(), lr=1e-2, guard=True, max_norm=1.0)
    x = torch.randn(16, 8, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(x).square().mean().backward()
        optimizer.step()

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        step()
    before = model.weight.detach().clone()
    graph.replay()
    assert not torch.equal(model.weight, before) and optimizer.applied.item() == 1
    count = float(optimizer.state_dict()["state"][0]["step"])
    kept, x[0, 0] = x[0, 0].item(), float("inf")
    before = bits(model.weight)
    graph.replay()
    assert torch.equal(bits(model.weight), before) and optimizer.applied.item() == 0
    x[0, 0] = kept
    graph.replay()
    assert float(optimizer.state_dict()["state"][0]["step"]) == count + 1
    torch.cuda.synchronize()
    del graph


@pytest.mark.parametrize("kind", KINDS)
def test_no_step_waits_for_the_device(kind):
    params = parameters(SHAPES, device="cuda")
    optimizer = KINDS[kind](params)
    gradients(params, 0)
    absent = params[1].grad
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        for t in range(6):
            params[1].grad = absent if t % 2 else None  # counters part, plans are made
            optimizer.param_groups[0]["weight_decay"] = 0.01 * t
            optimizer.step()
        optimizer.zero_grad()
        optimizer.step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    counts = [float(state["step"]) for state in optimizer.state_dict()["state"].values()]
    assert sorted(set(counts)) == [3, 6]


def test_torchs_scaler_makes_no_step_wait():
    params = parameters(SHAPES, device="cuda")
    optimizer, scaler = AdamW(params), torch.amp.GradScaler("cuda", init_scale=4.0)
    scaler.scale(torch.ones((), device="cuda"))
    gradients(params, 0)
    scaler.step(optimizer)
    scaler.update()
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        scaler.step(optimizer)
        scaler.update()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert float(optimizer.state_dict()["state"][0]["step"]) == 2


def test_a_step_is_ordered_on_the_callers_stream():
    """A gradient that a side stream makes after a delay, and the step behind it there."""
    (p,) = parameters([(1 << 16,)], device="cuda")
    p.data.zero_()
    optimizer = SGD([p], lr=1.0)
    p.grad = torch.zeros_like(p)
    optimizer.step()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        p.grad.fill_(1)
        optimizer.step()
        read = p.detach().clone()
    stream.synchronize()
    assert torch.all(read == -1)


def test_memory_of_the_device_stays_flat():
    params = parameters(SHAPES * 4, device="cuda")
    optimizer = AdamW(params, max_norm=1.0)

    def steps(n):
        for t in range(n):
            gradients(params, t)
            optimizer.step()
            optimizer.zero_grad()
        torch.cuda.synchronize()
        return torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]

    steps(100)
    before = steps(10)
    held = optimizer.statistics()
    allocated, free = steps(400)
    assert allocated == before[0]
    after = optimizer.statistics()
    assert (after["plans_made"], after["plans_kept"]) == (held["plans_made"], held["plans_kept"])
    assert [plan["workspace_bytes"] for plan in after["plans"]] == [plan["workspace_bytes"] for plan in held["plans"]]
    if "PYTEST_XDIST_WORKER" in os.environ:
        print("skipped: the device's free memory, which other workers take from")
    else:
        assert before[1] - free < 8 << 20


def test_a_model_that_moves_to_the_gpu():
    """Before the first step: as nothing; behind it: refused until the states are moved too."""
    model = torch.nn.Linear(3, 2)
    optimizer = AdamW(model.parameters())
    model.cuda()
    model(torch.ones(1, 3, device="cuda")).sum().backward()
    optimizer.step()
    assert optimizer.state[model.weight]["exp_avg"].is_cuda and optimizer.state[model.weight]["step"].is_cuda
    model.cpu()
    optimizer.zero_grad()
    model(torch.ones(1, 3)).sum().backward()
    with pytest.raises(RuntimeError, match="load the optimizer's own state_dict"):
        optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.step()
    assert float(optimizer.state_dict()["state"][0]["step"]) == 2 and not optimizer.state[model.weight]["exp_avg"].is_cuda


def test_offload_inside_a_capture_is_refused():
    params = parameters([(4,)], device="cuda")
    optimizer = AdamW(params, offload="cpu")
    static_gradients(params)
    optimizer.step()
    torch.cuda.synchronize()
    before = bits(params[0])
    with pytest.raises(RuntimeError, match='offload="cpu": expected a step outside of a graph capture'):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            optimizer.step()
    torch.cuda.synchronize()
    assert torch.equal(bits(params[0]), before)


def test_a_learning_rate_on_another_device_is_told():
    (p,) = parameters([(4,)])
    gradients([p], 1)
    with pytest.raises(RuntimeError, match=r"lr: expected a number, or a tensor on cpu as the parameters, got one on cuda:0"):
        AdamW([p], lr=torch.tensor(0.1, device="cuda")).step()
