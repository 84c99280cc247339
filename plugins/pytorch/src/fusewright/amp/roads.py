"""The ways of a scaled step: inside an optimizer of this package, by torch's protocol of fused optimizers, by the host."""
from __future__ import annotations

import inspect
from enum import Enum
from typing import Any, List, Mapping, Sequence, Tuple

import torch

from .checks import Checks
from ..optim.staging import to_device
from .core import CoreScaler
from .passes import World
from .report import Report

NO_GRADIENT = "expected gradients to look at, got none in any of the optimizer's parameters; call backward() first"


class Stage(Enum):
    READY = 0
    UNSCALED = 1
    STEPPED = 2


class Record:
    """An optimizer since the last update."""

    __slots__ = ("optimizer", "is_ours", "stage", "found", "made", "__weakref__")

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self.is_ours = hasattr(type(optimizer), "_step_scaled")
        self.stage = Stage.READY
        self.found: List[Report] = []  # by unscale_ or a look ahead of the step
        self.made: List[Report] = []  # by the step itself

    def claim(self) -> None:
        """A step by another scaler is refused until the update."""
        if self.is_ours:
            self.optimizer._claimants.add(self)

    def leave(self) -> None:
        if self.is_ours:
            self.optimizer._claimants.discard(self)

    def check_claims(self) -> None:
        """RuntimeError where another scaler is between its unscale_() or step() and its update()."""
        if self.is_ours and self.stage is Stage.READY and len(self.optimizer._claimants):
            raise RuntimeError("expected one scaler for an optimizer, got a second fusewright.amp.GradScaler while the first is between "
                               "its unscale_() or step() and its update(); update the first")


def worst(numbers: Sequence[torch.Tensor], device: torch.device) -> torch.Tensor:
    """One number that is 0 where all are."""
    here = [to_device(number, device) for number in numbers]
    return here[0] if len(here) == 1 else torch.stack([number.reshape(()) for number in here]).abs().amax()


def flag(reports: Sequence[Report], device: torch.device) -> torch.Tensor:
    """1.0 where a report is not 0, else 0.0; 0-d."""
    return worst([report.skipped for report in reports], device).reshape(()).ne(0).to(torch.float32)


class Roads:
    """Steps of all optimizers of a scaler.

    Args:
        core: the scale.
        process_group: of optimizers that say none.
    """

    def __init__(self, core: CoreScaler, process_group: Any) -> None:
        self.core = core
        self.checks = Checks()
        self._process_group = process_group
        self._world: World = None

    def step(self, scaler: Any, record: Record, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        record.check_claims()
        if record.is_ours:
            return self._inside(record, args, kwargs)
        if getattr(record.optimizer, "_step_supports_amp_scaling", False):
            if "grad_scaler" in inspect.signature(record.optimizer.step).parameters:  # of torch 1: it asks the scaler
                return record.optimizer.step(*args, **kwargs, grad_scaler=scaler)
            return self._fused(record, args, kwargs)
        if record.stage is Stage.READY:
            record.found = self.look("unscale", record.optimizer)
            record.stage = Stage.UNSCALED
        if any(report.skipped.item() != 0 for report in record.found):
            return None
        return record.optimizer.step(*args, **kwargs)

    def look(self, op: str, optimizer: Any) -> List[Report]:
        """Passes over the gradients, "unscale" or "inspect"."""
        world, is_common = self._world_of(optimizer)
        reports = self.checks.run(op, optimizer, self.core, world, is_common)
        if not reports:
            raise AssertionError(NO_GRADIENT)
        return reports

    def _inside(self, record: Record, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The step divides, looks and skips. What it cannot see by itself it is told: bad gradients of other lanes, which
        have no common plan, and of ranks that only the scaler knows."""
        optimizer, core = record.optimizer, self.core
        lanes = optimizer._fitting_lanes(is_scaled=True)
        if len(lanes) > 1 or (optimizer._world is None and self._process_group is not None):
            record.found = [*record.found, *self.look("inspect", optimizer)]
        scale: Any = None
        if record.stage is Stage.READY:
            scale = core.scalar_on(lanes[0].device) if len(lanes) == 1 else core.tensor
        skip = worst([report.skipped for report in record.found], core.place) if record.found else None  # type: ignore[arg-type]
        result, tables = optimizer._step_scaled(scale, skip, *args, **kwargs)
        if not tables and not record.found:  # a step() of a subclass that makes none
            record.found = self.look("inspect", optimizer)
        if optimizer._world is None and not record.found and not any(table.parameters for table in tables):
            raise AssertionError(NO_GRADIENT)
        is_common = optimizer._process_group is None
        record.made = [Report(number, table, is_common) for table in tables for number in table.skipped]
        record.claim()
        return result

    def _fused(self, record: Record, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The optimizer reads scale and decision on the device."""
        optimizer, core = record.optimizer, self.core
        scale = getattr(optimizer, "grad_scale", None)
        if record.stage is Stage.READY:
            record.found = self.look("inspect", optimizer)
            scale = core.tensor if scale is None else core.tensor * scale
        optimizer.grad_scale = scale
        optimizer.found_inf = flag(record.found, core.place)  # type: ignore[arg-type]
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale
            del optimizer.found_inf

    def _world_of(self, optimizer: Any) -> Tuple[World, bool]:
        """The ranks that decide together, and whether all of them have the same list of parameters."""
        if hasattr(type(optimizer), "_step_scaled"):
            if optimizer._lanes is None:
                optimizer._lanes_now()
            if optimizer._world is not None:
                return optimizer._world, optimizer._process_group is None
        if self._process_group is None:
            return None, True
        if self._world is None:
            from ..distributed import AllReduce

            self._world = AllReduce(self._process_group)
        return self._world, False
