"""The equations of the shipped optimizers in float64, and helpers of their tests."""
from fractions import Fraction

import torch

ULP = {torch.float64: 2.0**-52, torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
SMALLEST = {torch.float64: 2.0**-1074, torch.float32: 2.0**-149, torch.float16: 2.0**-24, torch.bfloat16: 2.0**-133}


def ulp(values, dtype):
    """The distance of neighbouring numbers of `dtype` at float64 `values`."""
    _, exponent = torch.frexp(values)
    return torch.clamp(torch.ldexp(torch.ones_like(values), exponent - 1) * ULP[dtype], min=SMALLEST[dtype])


def correction(beta, t):
    """1 - beta^t rounded once: by powers in float64 the digits of small t would be gone."""
    return float(1 - Fraction(beta) ** t)


def adam(p, g, s, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False, decoupled=False):
    """Kingma & Ba 2015, algorithm 1; decoupled: Loshchilov & Hutter 2019, algorithm 2."""
    g = -g if maximize else g
    d = g if decoupled else g + weight_decay * p
    m = betas[0] * s["exp_avg"] + (1 - betas[0]) * d
    v = betas[1] * s["exp_avg_sq"] + (1 - betas[1]) * d * d
    new = {"exp_avg": m, "exp_avg_sq": v}
    if amsgrad:
        new["max_exp_avg_sq"] = v = torch.maximum(s["max_exp_avg_sq"], v)
    u = m / correction(betas[0], t) / ((v / correction(betas[1], t)).sqrt() + eps)
    return p - lr * (u + (weight_decay * p if decoupled else 0)), new


def sgd(p, g, s, t, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    d = (-g if maximize else g) + weight_decay * p
    if not momentum:
        return p - lr * d, {}
    b = d if t == 1 else momentum * s["momentum_buffer"] + (1 - dampening) * d
    return p - lr * (d + momentum * b if nesterov else b), {"momentum_buffer": b}


def lion(p, g, s, t, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, maximize=False):
    """Chen et al. 2023, algorithm 2."""
    g = -g if maximize else g
    c = betas[0] * s["exp_avg"] + (1 - betas[0]) * g
    return p - lr * (torch.sign(c) + weight_decay * p), {"exp_avg": betas[1] * s["exp_avg"] + (1 - betas[1]) * g}


def adamw(*arguments, weight_decay=1e-2, **named):
    return adam(*arguments, weight_decay=weight_decay, decoupled=True, **named)


EQUATIONS = {"AdamW": adamw, "Adam": adam, "SGD": sgd, "Lion": lion}
STATES = {"AdamW": ("exp_avg", "exp_avg_sq"), "Adam": ("exp_avg", "exp_avg_sq"), "SGD": ("momentum_buffer",), "Lion": ("exp_avg",)}

# name of the class, arguments
SETTINGS = [
    ("AdamW", {}), ("AdamW", {"lr": 1e-2, "weight_decay": 0.1, "amsgrad": True}), ("AdamW", {"maximize": True, "betas": (0.8, 0.95)}),
    ("Adam", {"weight_decay": 0.05}), ("Adam", {"amsgrad": True, "eps": 1e-3}), ("Adam", {"maximize": True}),
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.25, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Lion", {}), ("Lion", {"weight_decay": 0.1, "maximize": True, "betas": (0.95, 0.98)}),
]
NAMES = [f"{name}-{'-'.join(arguments)}" for name, arguments in SETTINGS]


def parameters(shapes, dtype=torch.float32, device="cpu", seed=0):
    random = torch.Generator().manual_seed(seed)
    return [torch.nn.Parameter(torch.randn(shape, generator=random).to(dtype).to(device)) for shape in shapes]


def gradients(params, step, seed=1):
    """Gives every parameter a gradient that depends on its place, the seed and the step alone."""
    random = torch.Generator().manual_seed(1000 * seed + step)
    for p in params:
        p.grad = torch.randn(p.shape, generator=random).to(p.dtype).to(p.device)


def copies(params):
    return [torch.nn.Parameter(p.detach().clone()) for p in params]


def bits(tensor):
    """The bytes of a tensor, for comparisons that know -0 and NaN."""
    return tensor.detach().cpu().clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(bits(a), bits(b))


def everything(optimizer):
    """All bytes that a step may change, by name."""
    found = {}
    for number, p in enumerate(p for group in optimizer.param_groups for p in group["params"]):
        found[f"p{number}"] = bits(p)
        for name, value in optimizer.state.get(p, {}).items():
            found[f"{name}{number}"] = bits(value)
    return found
