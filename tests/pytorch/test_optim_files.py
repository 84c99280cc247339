"""Optimizers by files of the user's, and mistakes in them."""
import copy
import inspect
import pickle

import pytest
import torch

import fusewright
from fusewright import _C
from fusewright.optim import SGD, AdamW, from_file
from fusewright.optim.optimizer import Optimizer
from optim_reference import copies, gradients, parameters, same

RMSPROP = """# RMSProp with momentum. Tieleman & Hinton 2012, lecture 6.5.
op rmsprop over elements {
  option centred = false;  option decay = none | l2
  param p;  grad g;  state v = 0, b = 0
  if centred { state a = 0 }
  hyper lr = 1e-3 >= 0, alpha = 0.99 in [0, 1), momentum = 0.5 in [0, 1), eps = 1e-8 > 0
  if decay == l2 { hyper weight_decay = 0.1 >= 0;  d = g + weight_decay*p } else { d = g }
  v = alpha*v + (1 - alpha)*d^2          # E1
  if centred { a = alpha*a + (1 - alpha)*d;  s = v - a^2 } else { s = v }
  b = momentum*b + d/(sqrt(max(s, 0)) + eps)     # E2
  p = p - lr*b                           # E3
}
"""
COUNTING = """op counting over elements {
  param weights;  grad slope;  state best[tensor] = 1;  step steps;  out most[all]
  hyper rate
  most = max[all](abs(slope))
  best = max(best, absmax[tensor](slope))
  weights = weights - rate*steps*slope/best
}
"""


@pytest.fixture
def rmsprop(tmp_path):
    file = tmp_path / "rmsprop.fuse"
    file.write_text(RMSPROP)
    return from_file(file, "rmsprop")


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("decay", ["none", "l2"])
def test_an_optimizer_of_ones_own(rmsprop, centred, decay, device):
    params = parameters([(7, 5), (33,)], device=device)
    exact = [p.detach().cpu().double() for p in params]
    states = [{"v": torch.zeros_like(e), "a": torch.zeros_like(e), "b": torch.zeros_like(e)} for e in exact]
    optimizer = rmsprop(params, lr=0.01, momentum=0.8, centred=centred, decay=decay)
    for t in range(20):
        gradients(params, t)
        for number, (p, e, s) in enumerate(zip(params, exact, states)):
            d = p.grad.cpu().double() + (0.1 * e if decay == "l2" else 0)
            s["v"] = 0.99 * s["v"] + 0.01 * d * d
            s["a"] = 0.99 * s["a"] + 0.01 * d
            root = (s["v"] - s["a"] ** 2 if centred else s["v"]).clamp(min=0).sqrt()
            s["b"] = 0.8 * s["b"] + d / (root + 1e-8)
            exact[number] = e - 0.01 * s["b"]
        optimizer.step()
    for p, e, s in zip(params, exact, states):
        assert torch.allclose(p.detach().cpu().double(), e, rtol=1e-4, atol=1e-4)
        assert torch.allclose(optimizer.state[p]["v"].cpu().double(), s["v"], rtol=1e-5)
    assert set(optimizer.state[params[0]]) == {"v", "b"} | ({"a"} if centred else set())


def test_the_recipe_tells_what_it_takes(rmsprop):
    assert rmsprop.defaults == {"lr": 1e-3, "alpha": 0.99, "momentum": 0.5, "eps": 1e-8, "weight_decay": 0.1, "centred": False,
                                "decay": "none"}
    assert "alpha: in [0, 1); default 0.99" in rmsprop.__doc__ and "decay: none, l2" in rmsprop.__doc__
    assert "rmsprop" in repr(rmsprop) and "fusewright show" not in rmsprop.__doc__
    for kind in (AdamW, SGD):
        options = kind.__doc__.split("Options:\n")[1].split("\n\n")[0].split("\n")
        assert {option.split(":")[0].strip() for option in options} <= set(inspect.signature(kind).parameters)
    assert "amsgrad: False, True" in AdamW.__doc__ and "decay:" not in AdamW.__doc__.replace("weight_decay:", "")
    assert "momentum: >= 0; default 0\n" in SGD.__doc__ and "nesterov: False, True" in SGD.__doc__


@pytest.mark.parametrize("name", ["params", "self", "info", "closure", "guard", "process_group"])
@pytest.mark.parametrize("text", ["hyper {0} = 2\n  p = p - {0}*g", "option {0} = false\n  if {0} {{ p = p - g }} else {{ p = p - 2*g }}"])
def test_names_that_the_optimizer_takes_are_refused(tmp_path, name, text):
    file = tmp_path / "own.fuse"
    file.write_text("op own over elements {\n  param p;  grad g;  " + text.format(name) + "\n}\n")
    with pytest.raises(ValueError, match=f"op own: expected hypers and options whose names are free, got {name}; .* choose another name"):
        from_file(file)


def test_optimizers_of_ones_own_are_called_by_the_op(rmsprop, monkeypatch):
    monkeypatch.setattr("fusewright.optim.optimizer._warned", [])
    with pytest.warns(UserWarning, match="rmsprop: parameters in torch.bfloat16 lose updates"):
        optimizer = rmsprop(parameters([(3,)], torch.bfloat16))
    assert repr(optimizer).startswith("rmsprop (") and isinstance(optimizer, Optimizer)
    for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer)), copy.copy(optimizer)):
        assert type(twin) is type(optimizer) and repr(twin) == repr(optimizer)


def test_states_copies_and_pickles_of_ones_own(rmsprop):
    params = parameters([(7, 5), (33,)])
    optimizer = rmsprop(params, lr=0.01)
    gradients(params, 1)
    optimizer.step()
    loaded = copies(params)
    other = rmsprop(loaded, lr=0.01)
    other.load_state_dict(optimizer.state_dict())
    twins = [other, copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))]
    gradients(params, 2)
    optimizer.step()
    for twin in twins:
        members = twin.param_groups[0]["params"]
        gradients(members, 2)
        twin.step()
        assert all(same(p, q) for p, q in zip(params, members))


def test_states_of_a_tensor_and_numbers_of_all(tmp_path, device):
    file = tmp_path / "counting.fuse"
    file.write_text(COUNTING)
    recipe = from_file(str(file))
    with pytest.raises(ValueError, match="rate: expected a number"):
        recipe(parameters([(2,)]))
    params = parameters([(4,), (5,)], device=device)
    for p in params:
        p.data.zero_()
    optimizer = recipe(params, rate=0.5)
    for t, (a, b) in enumerate([(2.0, 0.5), (1.0, 4.0)], 1):
        params[0].grad, params[1].grad = torch.full_like(params[0], a), torch.full_like(params[1], -b)
        optimizer.step()
        assert optimizer._lanes[0].outs["most"].item() == max(a, b)
    assert [optimizer.state[p]["best"].item() for p in params] == [2, 4]
    assert torch.allclose(params[0], torch.full_like(params[0], -0.5 * (1 * 2 / 2 + 2 * 1 / 2)))
    assert torch.allclose(params[1], torch.full_like(params[1], 0.5 * (1 * 0.5 / 1 + 2 * 4 / 4)))
    again = recipe(copies(params), rate=0.5)
    again.load_state_dict(optimizer.state_dict())
    assert [state["best"].item() for state in again.state.values()] == [2, 4]


@pytest.mark.parametrize(("text", "line", "column", "message"), [
    ("op bad over elements {\n  param p;  grad g\n  p = p - lr*g\n}\n", 3, 11, "lr"),
    ("op bad over elements {\n  param p;  grad g\n  p = p - \n}\n", 4, 1, "expected a value"),
    ("op bad over elements {\n  param p;  grad g;  hyper lr = -1 >= 0\n  p = p - lr*g\n}\n", 2, None, "expected a default >= 0, got -1"),
], ids=["unknown name", "half a line", "default out of range"])
def test_mistakes_in_files_have_their_place(tmp_path, text, line, column, message):
    file = tmp_path / "bad.fuse"
    file.write_text(text)
    with pytest.raises(fusewright.Error, match=message) as caught:
        from_file(file)
    assert caught.value.file.endswith("bad.fuse") and caught.value.line == line
    assert column is None or caught.value.column == column


@pytest.mark.parametrize(("text", "message"), [
    ("op bad over elements {\n  in x;  out y\n  y = x\n}\n", "expected operands that an optimizer can make"),
    ("op bad over elements {\n  param p, q;  grad g;  hyper lr = 1\n  p = p - lr*g\n  q = q - lr*g\n}\n", "expected one param, got p, q"),
    ("op bad over elements {\n  param p;  hyper lr = 1\n  p = p - lr*p\n}\n", "expected one grad, got none"),
    ("op bad over elements {\n  param p;  grad g;  in scale[all]\n  p = p - scale*g\n}\n", "got in scale of scope all; make it a hyper"),
])
def test_ops_that_are_no_optimizers_are_told(tmp_path, text, message):
    file = tmp_path / "bad.fuse"
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        from_file(file)


def test_wrong_options_and_names_are_told(rmsprop, tmp_path):
    params = parameters([(3,)])
    with pytest.raises(ValueError, match="decay: expected one of none, l2, got 'L2'"):
        rmsprop(params, decay="L2")
    with pytest.raises(TypeError, match="expected arguments among lr, .*, got betas"):
        rmsprop(params, betas=(0.9, 0.99))
    with pytest.raises(ValueError, match=r"alpha: expected a number in \[0, 1\), got 1.0"):
        rmsprop(params, alpha=1.0)
    file = tmp_path / "two.fuse"
    file.write_text(RMSPROP + RMSPROP.replace("op rmsprop", "op other"))
    assert "other" in repr(from_file(file, "other"))
    with pytest.raises(fusewright.Error):
        from_file(file)
    with pytest.raises(fusewright.Error):
        from_file(file, "third")
    with pytest.raises(FileNotFoundError):
        from_file(tmp_path / "none.fuse")


def test_a_mistake_is_told_with_its_place(tmp_path):
    path = tmp_path / "a.fuse"
    path.write_text("op a over elements { param p; grad g; p = p - }")
    with pytest.raises(_C.Error, match=r"a\.fuse:1:47: expected a value, got '}'"):
        from_file(path)
    path.write_bytes(b"op a over elements {\0}")
    with pytest.raises(ValueError, match="without NUL characters"):
        from_file(path)
