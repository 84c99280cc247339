"""Looks at the gradients of optimizers: whether one is not finite, and divided by the scale."""
from __future__ import annotations

import operator
import weakref
from typing import Any, Dict, List, Tuple

import torch

from ..distributed import world_of
from .core import CoreScaler
from .passes import GradientPass, Moved, World, by_device
from .report import Report

_TOO_NARROW = (
    "expected gradients of float32, float64 or bfloat16, got float16, in which small ones vanish when they are divided; "
    "keep parameters in float32, or let step() of a fusewright optimizer divide them"
)


class _Check(GradientPass):
    def __init__(self, op: str, device: torch.device, scale: torch.Tensor) -> None:
        skipped = torch.zeros((), dtype=torch.float32, device=device)
        divides = op == "unscale"
        shared = {"skipped": skipped, "scale": scale} if divides else {"skipped": skipped}
        super().__init__(op, device, shared, refused={torch.float16: _TOO_NARROW} if divides else {})


class _Looked:
    """An optimizer's parameters when it was last looked at, by device, and the passes over them."""

    def __init__(self, parameters: List[torch.Tensor]) -> None:
        self.parameters = parameters
        self.members = by_device(parameters)
        self.passes: Dict[Tuple[str, torch.device], _Check] = {}
        self.world: World = world_of(parameters, adds=False)

    def is_of(self, parameters: List[torch.Tensor]) -> bool:
        return len(self.parameters) == len(parameters) and all(map(operator.is_, self.parameters, parameters))


class Checks:
    """The passes of one scaler, kept as long as their optimizers live."""

    def __init__(self) -> None:
        self._looked: "weakref.WeakKeyDictionary[Any, _Looked]" = weakref.WeakKeyDictionary()

    def clear(self) -> None:
        self._looked.clear()

    def run(self, op: str, optimizer: Any, core: CoreScaler, world: World, is_common: bool) -> List[Report]:
        """One pass per device over the optimizer's gradients, "unscale" or "inspect"; a report for each that
        has one. With a world, or with DTensors that have parts on other ranks, every rank takes part, with
        gradients or without."""
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        looked = self._looked.get(optimizer)
        if looked is None or not looked.is_of(parameters):
            looked = self._looked[optimizer] = _Looked(parameters)
        try:
            return _run(op, looked, core, world, is_common)
        except Moved:
            looked = self._looked[optimizer] = _Looked(parameters)
            return _run(op, looked, core, world, is_common)


def _run(op: str, looked: _Looked, core: CoreScaler, world: World, is_common: bool) -> List[Report]:
    reports = []
    world = looked.world if world is None else world
    for device, parameters in looked.members.items():
        check = looked.passes.get((op, device))
        if check is None:
            scale = core.scale_on(device)
            check = looked.passes[op, device] = _Check(op, device, scale if device == core.place else scale.clone())
        elif op == "unscale" and device != core.place:
            check.shared["scale"].copy_(core.scale_on(device))
        check.run(parameters, None, world)
        if check.count or world is not None:
            reports.append(Report(check.shared["skipped"], check, is_common))
    return reports
