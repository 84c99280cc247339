"""Plans over lists of tensors, for tests of `_C`."""
import pytest
import torch

from fusewright import _C


def check_error(code, parts, call):
    """`call` raises an error with that code and a remedy, whose text has all `parts`."""
    with pytest.raises(_C.Error) as caught:
        call()
    error = caught.value
    assert error.code == code, error
    for part in parts:
        assert part in str(error), error
    assert error.remedy and str(error).endswith("; " + error.remedy)
    return error


def request_of(context, op="adamw", target="cpu", features=(), options=(), dtypes=()):
    request = context.op(op).request()
    request.target(target)
    for name in features:
        request.feature(name)
    for name, value in dict(options).items():
        request.option(name, value)
    for name, value in dict(dtypes).items():
        request.dtype(name, value)
    return request


def entry_major(request, columns):
    """The tensors of a plan from one list for each operand; operands of all are single tensors."""
    operands = request.operands()
    per_entry = [operand["name"] for operand in operands if operand["scope"] != "all"]
    of_all = [operand["name"] for operand in operands if operand["scope"] == "all"]
    entries = zip(*(columns[name] for name in per_entry))
    return [tensor for entry in entries for tensor in entry] + [columns[name] for name in of_all]


class AdamW:
    """Parameters with gradients and moments, and a plan of one group over them."""

    def __init__(self, context, shapes, target="cpu", scalars=None, gradients=None, seed=0, features=(), counter=None):
        generator = torch.Generator().manual_seed(seed)
        device = torch.device(target)

        def random(shape):
            return torch.randn(shape, generator=generator).to(device)

        self.parameters = [torch.nn.Parameter(random(shape)) for shape in shapes]
        for index, parameter in enumerate(self.parameters):
            parameter.grad = random(parameter.shape) if gradients is None else gradients[index]
        self.m = [random(shape) for shape in shapes]
        self.v = [random(shape).abs() for shape in shapes]
        self.step = torch.zeros((), device=device) if counter is None else counter
        self.request = request_of(context, target=target, features=features)
        self.program = self.request.compile()
        self.scalars = {"t": _C.Counter(self.step), **(scalars or {})}
        self.plan = _C.Plan(context, [(self.program, self.tensors(), self.scalars)])

    def columns(self):
        return {"p": self.parameters, "g": [p.grad for p in self.parameters], "m": self.m, "v": self.v}

    def tensors(self):
        return entry_major(self.request, self.columns())

    def watch(self):
        self.plan.watch(0, "p", self.parameters)
        self.plan.watch(0, "g", self.parameters, "grad")
        return self

    def expected(self, t, **scalars):
        """name -> (values, bounds) after one step from here, by the reference."""
        copies = entry_major(self.request, {name: [x.detach().cpu().clone() for x in column] for name, column in self.columns().items()})
        return self.request.evaluate(copies, {"t": t, **scalars})

    def check(self, expected):
        """Every element of p, m, v is within the reference's bounds."""
        for name, column in (("p", self.parameters), ("m", self.m), ("v", self.v)):
            check_within(torch.cat([x.detach().cpu().double().reshape(-1) for x in column]), expected[name], name)


def check_within(got, expected, name="values"):
    values, bounds = (torch.tensor(numbers, dtype=torch.float64) for numbers in expected)
    wrong = ~((got - values).abs() <= bounds)
    assert not wrong.any(), f"{name}: {int(wrong.sum())} elements outside of the reference's bounds"
