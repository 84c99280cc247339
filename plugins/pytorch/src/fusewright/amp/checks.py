"""Looks at the gradients of optimizers: whether one is not finite, and divided by the scale."""
from __future__ import annotations

import operator
import weakref
from typing import Any, Dict, List, Tuple

import torch

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


class Checks:
    """The passes of one scaler, kept as long as their optimizers live."""

    def __init__(self) -> None:
        self._passes: "weakref.WeakKeyDictionary[Any, Dict[Tuple[str, torch.device], _Check]]" = weakref.WeakKeyDictionary()
        self._members: "weakref.WeakKeyDictionary[Any, Dict[torch.device, List[torch.Tensor]]]" = weakref.WeakKeyDictionary()

    def clear(self) -> None:
        self._passes.clear()
        self._members.clear()

    def run(self, op: str, optimizer: Any, core: CoreScaler, world: World, is_common: bool) -> List[Report]:
        """One pass per device over the optimizer's gradients, "unscale" or "inspect"; a report for each that
        has one. With a world every rank takes part, with gradients or without."""
        try:
            return self._run(op, optimizer, core, world, is_common)
        except Moved:
            self._passes.pop(optimizer, None)
            self._members.pop(optimizer, None)
            return self._run(op, optimizer, core, world, is_common)

    def _run(self, op: str, optimizer: Any, core: CoreScaler, world: World, is_common: bool) -> List[Report]:
        reports = []
        passes = self._passes.setdefault(optimizer, {})
        for device, parameters in self._split(optimizer).items():
            check = passes.get((op, device))
            if check is None:
                scale = core.scale_on(device)
                check = passes[op, device] = _Check(op, device, scale if device == core.place else scale.clone())
            elif op == "unscale" and device != core.place:
                check.shared["scale"].copy_(core.scale_on(device))
            check.run(parameters, None, world)
            if check.count or world is not None:
                reports.append(Report(check.shared["skipped"], check, is_common))
        return reports

    def _split(self, optimizer: Any) -> Dict[torch.device, List[torch.Tensor]]:
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        known = self._members.get(optimizer)
        if known is not None and len(known) == 1:
            members = next(iter(known.values()))
            if len(members) == len(parameters) and all(map(operator.is_, members, parameters)):
                return known
        self._members[optimizer] = split = by_device(parameters)
        return split
