"""Gradients clipped by their common norm or by value, in one pass over all of them; the calls of torch.nn.utils."""
from __future__ import annotations

import math
import weakref
from collections import OrderedDict
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Union

import torch

from ..distributed import AllReduce, groups_of
from ..optim.staging import to_device
from .passes import GradientPass, Moved, World

__all__ = ["clip_grad_norm_", "clip_grad_value_"]

_KEPT = 8  # lists of parameters whose plans are kept
Parameters = List[torch.Tensor]
Number = Union[float, torch.Tensor]


class _Part:
    """Parameters on one device whose parts are on the same ranks."""

    def __init__(self, parameters: Parameters, numbers: List[int], world: World) -> None:
        self.device = parameters[numbers[0]].device
        self.numbers, self.world = numbers, world
        is_wide = any(parameters[i].dtype == torch.float64 for i in numbers)
        self.dtype = torch.float64 if is_wide else torch.float32
        self._passes: Dict[Tuple[str, ...], GradientPass] = {}

    def pass_of(self, op: str, **options: str) -> GradientPass:
        made = self._passes.get((op, *options.values()))
        if made is None:
            shared = {} if op == "clip_value" else {"norm": torch.zeros((), dtype=self.dtype, device=self.device)}
            made = self._passes[(op, *options.values())] = GradientPass(op, self.device, shared, options, watches=False)
        return made

    def run(self, made: GradientPass, parameters: Parameters, scalars: Mapping[str, Number]) -> None:
        here = {name: to_device(x, self.device) if isinstance(x, torch.Tensor) else float(x) for name, x in scalars.items()}
        made.run([parameters[i] for i in self.numbers], here, self.world)


class _Clipper:
    """The passes of one list of parameters. Keeps no parameter alive."""

    def __init__(self, parameters: Parameters, process_group: Any) -> None:
        places: Dict[Any, List[int]] = {}
        for number, parameter in enumerate(parameters):
            places.setdefault((parameter.device, groups_of(parameter)), []).append(number)
        worlds: Dict[Any, World] = {groups: AllReduce(groups) for _, groups in places if groups}
        worlds[()] = None if process_group is None else AllReduce(process_group)
        self.parts = [_Part(parameters, numbers, worlds[groups]) for (_, groups), numbers in places.items()]

    def norm(self, parameters: Parameters, order: float, max_norm: Optional[Number]) -> torch.Tensor:
        """The norm of all; with `max_norm` the gradients are clipped, too, which takes that they are one part."""
        kind = {2: "l2", 1: "l1", math.inf: "linf"}.get(order, "lp")
        scalars: Dict[str, Number] = {"order": order} if kind == "lp" else {}
        if max_norm is not None:
            scalars["max_norm"] = max_norm
        norms = []
        for part in self.parts:
            made = part.pass_of("norm", clips="false" if max_norm is None else "true", kind=kind)
            part.run(made, parameters, scalars)
            norms.append(made.shared["norm"])
        if len(norms) == 1:
            return norms[0].clone()
        return torch.linalg.vector_norm(torch.stack([to_device(norm, norms[0].device) for norm in norms]), order)

    def clip_by(self, parameters: Parameters, norm: torch.Tensor, max_norm: Number) -> None:
        for part in self.parts:
            made = part.pass_of("clip_by")
            made.shared["norm"].copy_(norm)
            part.run(made, parameters, {"max_norm": max_norm})

    def clip_value(self, parameters: Parameters, limit: Number) -> None:
        for part in self.parts:
            part.run(part.pass_of("clip_value"), parameters, {"limit": limit})


_kept: "OrderedDict[Any, Tuple[_Clipper, List[Any], Any]]" = OrderedDict()


def _clipper_of(parameters: Parameters, process_group: Any) -> _Clipper:
    key = (tuple(map(id, parameters)), id(process_group))
    known = _kept.get(key)
    if known is not None:
        _kept.move_to_end(key)
        return known[0]
    made = _Clipper(parameters, process_group)

    def forget(_: Any, key: Any = key) -> None:
        _kept.pop(key, None)

    # The process group is held: another one may not get its id.
    _kept[key] = made, [weakref.ref(parameter, forget) for parameter in parameters], process_group
    if len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return made


def _with_clipper(parameters: Parameters, process_group: Any, work: Callable[[_Clipper], Any]) -> Any:
    try:
        return work(_clipper_of(parameters, process_group))
    except Moved:  # by module.to()
        _kept.pop((tuple(map(id, parameters)), id(process_group)), None)
        return work(_clipper_of(parameters, process_group))


def _as_list(parameters: "torch.Tensor | Iterable[torch.Tensor]") -> Parameters:
    return [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)


@torch.no_grad()
def clip_grad_norm_(
    parameters: "torch.Tensor | Iterable[torch.Tensor]",
    max_norm: Number,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: Optional[bool] = None,
    *,
    process_group: Any = None,
) -> torch.Tensor:
    """Scales gradients in place so that their common norm is at most `max_norm`; torch.nn.utils.clip_grad_norm_.

    One plan over all gradients, whatever their number and dtypes: two launches on a GPU. Waits for nothing.
    Optimizers of `fusewright.optim` do it within their step: `AdamW(..., max_norm=1.0)`.

    Args:
        max_norm: a number, or a 0-d tensor with one, which is read on the device.
        norm_type: > 0; 1, 2 and inf are exact, others take an exp and a log of each element.
        error_if_nonfinite: waits for the norm, and raises before anything is changed.
        foreach: not used.
        process_group: gradients that are not DTensors are parts of larger ones on its ranks. DTensors know
            their ranks.

    Returns:
        The norm before clipping, over all ranks: 0-d on the device, float32, or float64 where parameters are.

    Raises:
        RuntimeError: the norm is not finite, where that is asked for.
    """
    order = float(norm_type)
    if not order > 0:
        raise ValueError(f"norm_type: expected a number > 0, got {norm_type}; 2 is the Euclidean norm")
    members = _as_list(parameters)
    if not members or (process_group is None and all(p.grad is None for p in members)):
        return torch.zeros((), device=members[0].device if members else None)

    def work(clipper: _Clipper) -> torch.Tensor:
        if len(clipper.parts) == 1 and not error_if_nonfinite:
            return clipper.norm(members, order, max_norm)
        norm = clipper.norm(members, order, None)
        if error_if_nonfinite and not torch.isfinite(norm):
            raise RuntimeError(
                f"expected a finite norm of order {order:g}, got {norm.item()}; look for inf and NaN in the gradients, or "
                "say error_if_nonfinite=False"
            )
        clipper.clip_by(members, norm, max_norm)
        return norm

    return _with_clipper(members, process_group, work)


@torch.no_grad()
def clip_grad_value_(
    parameters: "torch.Tensor | Iterable[torch.Tensor]", clip_value: Number, foreach: Optional[bool] = None
) -> None:
    """Limits each element of the gradients to [-clip_value, clip_value]; torch.nn.utils.clip_grad_value_. NaN stays.

    Args:
        clip_value: a number, or a 0-d tensor with one, which is read on the device.
        foreach: not used.
    """
    members = _as_list(parameters)
    if any(p.grad is not None for p in members):
        _with_clipper(members, None, lambda clipper: clipper.clip_value(members, clip_value))
