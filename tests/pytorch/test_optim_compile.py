"""Steps inside of torch.compile: one op, no break of the graph, the bits of the eager step."""
import pytest
import torch

from fusewright.optim import SGD, AdamW, Lion
from optim_reference import copies, everything, gradients, parameters, same

VERSION = tuple(map(int, torch.__version__.split(".")[:2]))
BACKENDS = ["eager", "aot_eager", "inductor"]
pytestmark = pytest.mark.filterwarnings("ignore:.*lose updates", "ignore::DeprecationWarning")
needs_lists = pytest.mark.skipif(VERSION < (2, 5), reason="needs torch 2.5")


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()
    torch._dynamo.utils.counters.clear()
    yield
    torch.compiler.reset()


def graphs():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


KINDS = {
    "AdamW": lambda p: AdamW(p, lr=0.1),
    "AdamW with all": lambda p: AdamW(p, lr=0.1, amsgrad=True, max_norm=0.5, ema_decay=0.9, guard=True),
    "masters": lambda p: AdamW(p, lr=0.1, master_weights=True),
    "SGD": lambda p: SGD(p, lr=0.1, momentum=0.9),
    "Lion": lambda p: Lion(p, lr=0.1),
}


@needs_lists
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_compiled_step_has_the_bits_of_an_eager_one(kind, backend, device):
    dtype = torch.bfloat16 if kind == "masters" else torch.float32
    params = parameters([(3, 5), (7,), (0,), (2, 3, 4, 5)], dtype, device)
    alone = copies(params)
    first, second = KINDS[kind](params), KINDS[kind](alone)
    step = torch.compile(lambda: first.step(), backend=backend, fullgraph=True)
    for t in range(4):
        gradients(params, t)
        gradients(alone, t)
        for optimizer in (first, second):
            optimizer.param_groups[0]["lr"] = 0.1 / (t + 1)  # compiles nothing again
        step()
        second.step()
        if "guard" in kind or "all" in kind:
            assert first.norm.item() == second.norm.item() and first.applied.item() == 1
    expected = everything(second)
    assert {name: torch.equal(value, expected[name]) for name, value in everything(first).items()} == dict.fromkeys(expected, True)
    assert graphs() == 1 and not torch._dynamo.utils.counters["graph_break"]


@needs_lists
def test_a_learning_rate_that_is_filled_compiles_nothing_again(device):
    params = parameters([(3, 5), (7,)], device=device)
    alone = copies(params)
    lr = torch.tensor(0.1, device=device)
    first, second = AdamW(params, lr=lr), AdamW(alone, lr=0.1)
    step = torch.compile(lambda: first.step(), backend="aot_eager", fullgraph=True)
    for t in range(4):
        gradients(params, t)
        gradients(alone, t)
        lr.fill_(0.1 / (t + 1))
        second.param_groups[0]["lr"] = lr.item()
        step()
        second.step()
        assert all(same(p, q) for p, q in zip(params, alone)), t
    assert graphs() == 1 and not torch._dynamo.utils.counters["graph_break"]


@needs_lists
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_other_gradients_loads_and_eager_steps_are_seen(backend):
    params = parameters([(3, 5), (7,), (4,)])
    alone = copies(params)
    first, second = AdamW(params, lr=0.1), AdamW(alone, lr=0.1)
    step = torch.compile(lambda: first.step(), backend=backend, fullgraph=True)
    for t, absent in enumerate([None, 1, None, 0, None, 1]):
        gradients(params, t)
        gradients(alone, t)
        if absent is not None:
            params[absent].grad = alone[absent].grad = None
        (first.step if t == 2 else step)()
        second.step()
        if t == 3:
            first.load_state_dict(first.state_dict())
        assert all(same(p, q) for p, q in zip(params, alone)), t


@needs_lists
def test_gradients_of_other_strides_and_views_with_gaps():
    wide = torch.ones(4, 6)
    params = [torch.nn.Parameter(wide[:, ::2]), torch.nn.Parameter(torch.ones(3, 4))]
    alone = copies(params)
    first, second = SGD(params, lr=0.1, momentum=0.9), SGD(alone, lr=0.1, momentum=0.9)
    for t in range(3):
        gradients(alone, t)
        params[0].grad = alone[0].grad.clone()
        params[1].grad = alone[1].grad.t().contiguous().t()
        torch.compile(lambda: first.step(), backend="eager", fullgraph=True)()
        second.step()
    assert all(torch.equal(p, q) for p, q in zip(params, alone)) and torch.all(wide[:, 1::2] == 1)


@needs_lists
def test_a_whole_training_step():
    """Forward and backward outside, the step and zero_grad inside; with closures the loss comes back."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 3)
    optimizer = AdamW(model.parameters(), lr=0.05)

    @torch.compile(backend="aot_eager")
    def train(x):
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    x = torch.randn(16, 4)
    losses = [train(x).item() for _ in range(20)]
    assert losses[-1] < 0.5 * losses[0]


@needs_lists
def test_what_a_compiled_step_cannot_do_is_told():
    (p,) = parameters([(3,)])
    gradients([p], 1)
    for optimizer in (AdamW([p], offload="cpu"), AdamW([{"params": [p]}, {"params": parameters([(2,)]), "amsgrad": True}])):
        with pytest.raises(Exception, match="(?s)expected plain parameters on one device"):
            torch.compile(lambda o=optimizer: o.step(), backend="eager", fullgraph=True)()
    optimizer = AdamW([p])
    optimizer.register_step_post_hook(lambda *_: None)
    with pytest.raises(Exception, match="(?s)expected no step hooks"):
        torch.compile(lambda: optimizer.step(), backend="eager", fullgraph=True)()


@needs_lists
def test_the_op_passes_torchs_own_check():
    params = parameters([(3,), (4,)])
    gradients(params, 1)
    optimizer = AdamW(params)
    from fusewright.optim import compiled

    number = compiled.prepare(optimizer)
    traced = getattr(optimizer, compiled.attribute(number))
    lists = [[t.detach().clone() for t in tensors] for tensors in (traced.parameters, [p.grad for p in params], traced.states,
                                                                   traced.counters)]
    torch.library.opcheck(torch.ops.fusewright.optimizer_step_.default, (*lists, number),
                          test_utils=("test_schema", "test_faketensor", "test_autograd_registration"))


@pytest.mark.skipif(VERSION >= (2, 5), reason="needs torch before 2.5")
def test_old_torch_is_told():
    (p,) = parameters([(3,)])
    gradients([p], 1)
    optimizer = AdamW([p])
    with pytest.raises(Exception, match="(?s)expected torch 2.5 or newer for a compiled step"):
        torch.compile(lambda: optimizer.step(), backend="eager", fullgraph=True)()


@needs_lists
def test_a_compiled_step_exchanges_with_other_ranks(monkeypatch, device):
    """A second rank with the same gradients: the norm is larger by the root of 2."""
    kinds = []

    def twice(numbers, kind):
        kinds.append(kind)
        if kind == "sum":
            numbers.mul_(2)

    monkeypatch.setattr("fusewright.optim.optimizer.world_of", lambda optimizer: twice)
    params = parameters([(3, 5), (7,)], device=device)
    alone = copies(params)
    first, second = AdamW(params, max_norm=0.5), AdamW(alone, max_norm=0.5)
    step = torch.compile(lambda: first.step(), backend="eager", fullgraph=True)
    for t in range(2):
        gradients(params, t)
        gradients(alone, t)
        step()
        count = len(kinds)
        second.step()
        assert "sum" in kinds[:count] and first.norm.item() == second.norm.item()
    assert all(same(p, q) for p, q in zip(params, alone))


@needs_lists
def test_another_max_norm_is_read_by_a_compiled_step(device):
    params = parameters([(3, 5), (7,)], device=device)
    alone = copies(params)
    first, second = SGD(params, lr=0.1, max_norm=1.0), SGD(alone, lr=0.1, max_norm=1.0)
    step = torch.compile(lambda: first.step(), backend="eager", fullgraph=True)
    for t, norm in enumerate((1.0, 0.1, 0.01)):
        first.max_norm = second.max_norm = norm
        gradients(params, t)
        gradients(alone, t)
        step()
        second.step()
        assert all(same(p, q) for p, q in zip(params, alone)), t


@pytest.mark.skipif(VERSION < (2, 11), reason="needs a torch whose Dynamo leaves functions out that are marked")
@pytest.mark.parametrize("unscales", [False, True])
@pytest.mark.parametrize("ours", [False, True])
def test_a_scaler_in_a_compiled_function(ours, unscales, device):
    """Its calls end the graph, and do what they do outside."""
    import fusewright.amp

    GradScaler = fusewright.amp.GradScaler if ours else torch.amp.GradScaler
    results = []
    for compiles in (False, True):
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 3, device=device)
        optimizer, scaler = AdamW(model.parameters(), lr=0.1), GradScaler(torch.device(device).type, init_scale=8.0, growth_interval=2)

        def train(x):
            loss = model(x).square().mean()
            scaler.scale(loss).backward()
            if unscales:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()

        call = torch.compile(train, backend="aot_eager") if compiles else train
        inputs = [torch.randn(5, 4, generator=torch.Generator().manual_seed(i)).to(device) for i in range(4)]
        inputs[1][0, 0] = float("inf")
        for x in inputs:
            call(x)
        results.append((scaler.state_dict(), [p.detach().clone() for p in model.parameters()]))
    assert results[0][0] == results[1][0] and results[0][0]["scale"] == 8.0
    assert all(torch.equal(a, b) for a, b in zip(results[0][1], results[1][1]))
