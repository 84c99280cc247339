"""The shipped optimizers, with torch.optim's constructors, and those of the user's own files."""
from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Optional, Tuple, Type, Union

import torch

from .metadata import OpInfo, parsed, shipped
from .optimizer import Optimizer
from .settings import Settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .settings import Features

Number = Union[float, torch.Tensor]


def describe(info: OpInfo, summary: str) -> str:
    """A docstring from the op's own metadata."""
    lines = [summary, "", f"Equations: op {info.op.name}, hash {info.op.hash[:12]}.", "", "Numbers:"]
    for name, shown, value in info.hypers(info.defaults):
        default = "no default" if value is None else f"default {value:g}"
        lines.append(f"    {shown}: {info.scalars[name]['range'] or 'any number'}; {default}")
    options = {name: ("False", "True") if values == ("false", "true") else values
               for name, values in info.options.items() if name not in info.names.options}  # others follow from arguments
    options.update(dict.fromkeys(info.flags(), ("False", "True")))
    if options:
        lines += ["", "Options:", *(f"    {name}: {', '.join(values)}" for name, values in options.items())]
    lines += ["", f"States: {', '.join(sorted(info.element_states))}", f"Features: {', '.join(info.op.features)}"]
    return "\n".join(lines)


class Description:
    """`__doc__` of a class, made when somebody reads it: the op is not parsed at import."""

    def __init__(self, op: str, summary: str) -> None:
        self.op, self.summary = op, summary

    def __get__(self, instance: Any, owner: Optional[type] = None) -> str:
        return describe(shipped(self.op), self.summary)


class AdamW(Optimizer):
    __doc__ = Description("adamw", "Adam with decoupled weight decay, in the place of torch.optim.AdamW. Every step is fused and can be "
                                   "captured: foreach means nothing; fused and capturable put `step` of state_dict() on the device.")

    def __init__(self, params: Any, lr: Number = 1e-3, betas: Tuple[Number, Number] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: Number = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
                 foreach: Optional[bool] = None, capturable: bool = False, differentiable: bool = False,
                 fused: Optional[bool] = None, **features: "Unpack[Features]") -> None:
        super().__init__(params, shipped("adamw"), lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                         maximize=maximize, foreach=foreach, capturable=capturable, differentiable=differentiable,
                         fused=fused, **features)


class Adam(Optimizer):
    __doc__ = Description("adam", "Adam with L2 decay (decoupled_weight_decay=True: AdamW's), in the place of torch.optim.Adam. "
                                  "foreach means nothing; fused and capturable put `step` of state_dict() on the device.")

    def __init__(self, params: Any, lr: Number = 1e-3, betas: Tuple[Number, Number] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: Number = 0.0, amsgrad: bool = False, *, foreach: Optional[bool] = None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False,
                 fused: Optional[bool] = None, decoupled_weight_decay: bool = False, **features: "Unpack[Features]") -> None:
        super().__init__(params, shipped("adam"), lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                         maximize=maximize, foreach=foreach, capturable=capturable, differentiable=differentiable,
                         fused=fused, decoupled_weight_decay=decoupled_weight_decay, **features)


class SGD(Optimizer):
    __doc__ = Description("sgd", "Gradient descent with momentum, in the place of torch.optim.SGD. foreach means nothing; fused puts "
                                 "`step` of state_dict() on the device. The step is counted where momentum is not 0.")

    def __init__(self, params: Any, lr: Number = 1e-3, momentum: float = 0.0, dampening: Number = 0.0,
                 weight_decay: Number = 0.0, nesterov: bool = False, *, maximize: bool = False,
                 foreach: Optional[bool] = None, differentiable: bool = False, fused: Optional[bool] = None,
                 **features: "Unpack[Features]") -> None:
        if nesterov and (momentum == 0 or dampening != 0):
            raise ValueError(f"nesterov: expected a momentum and no dampening, got momentum {momentum} and dampening {dampening}; "
                             "the equations have no other form")
        super().__init__(params, shipped("sgd"), lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                         nesterov=nesterov, maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused,
                         **features)


class Lion(Optimizer):
    __doc__ = Description("lion", "Lion, the evolved sign momentum; torch.optim has none.")

    def __init__(self, params: Any, lr: Number = 1e-4, betas: Tuple[Number, Number] = (0.9, 0.99),
                 weight_decay: Number = 0.0, *, maximize: bool = False, **features: "Unpack[Features]") -> None:
        super().__init__(params, shipped("lion"), lr=lr, betas=betas, weight_decay=weight_decay, maximize=maximize, **features)


_TAKEN = ("params", "self", "info", "closure", *Settings.names())


class _OfRecipe(Optimizer):
    """An optimizer by an op of the user's. Its class, made on the spot, has the name of the op."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _blank, (type(self).__name__,), self.__getstate__()


@lru_cache(maxsize=None)
def _class_of(op: str) -> Type[Optimizer]:
    return type(op, (_OfRecipe,), {"__module__": __name__, "__doc__": f"An optimizer by the equations of op {op}."})


def _blank(op: str) -> Optimizer:
    """What a pickle fills."""
    made = _class_of(op)
    return made.__new__(made)


class Recipe:
    """Makes optimizers by an op of the user's: `recipe(model.parameters(), lr=1e-2)`. `recipe.defaults`: what a call takes
    beside the arguments of Settings."""

    def __init__(self, info: OpInfo) -> None:
        taken = next((name for name in info.defaults if name in _TAKEN), None)
        if taken is not None:
            raise ValueError(f"op {info.op.name}: expected hypers and options whose names are free, got {taken}; the optimizer takes "
                             f"{', '.join(_TAKEN)} for itself, choose another name")
        self._info = info
        self.defaults = dict(info.defaults)
        self.__doc__ = describe(info, f"Makes optimizers of op {info.op.name}.")

    def __call__(self, params: Any, **values: Any) -> Optimizer:
        return _class_of(self._info.op.name)(params, self._info, **values)

    def __repr__(self) -> str:
        return f"Recipe({self._info.op.name}: {', '.join(f'{name}={value!r}' for name, value in self.defaults.items())})"


def from_file(path: "Union[str, os.PathLike[str]]", op: Optional[str] = None) -> Recipe:
    """An optimizer by the equations in a file (docs/guide/first-optimizer.md); hypers, options and states have the file's
    names. op: which of the file's ops; None: the only one. fusewright._C.Error has the place of a mistake."""
    with open(path, encoding="utf-8") as file:
        return Recipe(parsed(file.read(), os.fspath(path), op))
