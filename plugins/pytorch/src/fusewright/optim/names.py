"""What torch.optim calls the numbers and states of shipped ops: one row per op, and nothing else of them."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, Tuple

Group = Dict[str, Any]
Choice = Callable[[Mapping[str, Any]], str]


def flag(key: str) -> Choice:
    """The value of an option `false, true` that a param group holds as a bool."""
    return lambda group: "true" if group[key] else "false"


@dataclass(frozen=True)
class Names:
    """Names of one op in param groups and state dicts; what has no row keeps the op's own name.

    hypers, states: the op's name -> torch's. tuples: torch's name -> the hypers that it holds, in their order.
    options: an option -> its value for a param group. keys: defaults, as torch's, of group entries that `options` reads.
    extra: entries of torch's groups that mean nothing here and are kept, so that state dicts go both ways.
    first: a state that torch has only once a step was applied.
    """

    hypers: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    tuples: Mapping[str, Tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Choice] = field(default_factory=dict)
    keys: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    first: str = ""


_TORCH = {"foreach": None, "capturable": False, "differentiable": False, "fused": None}
_BETAS = {"betas": ("beta1", "beta2")}
_MOMENTS = {"m": "exp_avg", "v": "exp_avg_sq", "vmax": "max_exp_avg_sq"}
_FLAGS = {"amsgrad": flag("amsgrad"), "maximize": flag("maximize")}


def _decay(group: Mapping[str, Any]) -> str:
    return "decoupled" if group["decoupled_weight_decay"] else "l2"


def _momentum(group: Mapping[str, Any]) -> str:
    if isinstance(group["momentum"], (int, float)) and group["momentum"] == 0:
        return "none"
    return "nesterov" if group["nesterov"] else "classical"


SHIPPED: Mapping[str, Names] = {
    "adamw": Names(states=_MOMENTS, tuples=_BETAS, extra=_TORCH,
                   options={**_FLAGS, "decay": lambda group: "decoupled"},
                   keys={"amsgrad": False, "maximize": False}),
    "adam": Names(states=_MOMENTS, tuples=_BETAS, extra=_TORCH, options={**_FLAGS, "decay": _decay},
                  keys={"amsgrad": False, "maximize": False, "decoupled_weight_decay": False}),
    "sgd": Names(hypers={"mu": "momentum"}, states={"b": "momentum_buffer"}, first="momentum_buffer",
                 options={"momentum": _momentum, "maximize": flag("maximize")},
                 keys={"momentum": 0.0, "nesterov": False, "maximize": False},
                 extra={key: value for key, value in _TORCH.items() if key != "capturable"}),
    "lion": Names(states={"m": "exp_avg"}, tuples=_BETAS, options={"maximize": flag("maximize")},
                  keys={"maximize": False}),
}
