"""What became of a step: reports on the device, and what the host has heard of them."""
from __future__ import annotations

import weakref
from collections import deque
from typing import Any, Deque, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import torch

_KEPT_UPDATES = 64  # whose tensors can still be named


class Report(NamedTuple):
    """What a guarded run left on the device."""

    skipped: torch.Tensor
    """`all.skipped` of the plan, f32, one element: 0 applied; 1 + the number of the first tensor with a gradient that is
    not finite; inf: the norm is not; -1: the caller's word."""
    source: Any
    """Has `parameters`: those of the plan's entries, in their order."""
    is_common: bool = True
    """Whether all ranks have these parameters; otherwise the number may be that of another rank's tensor."""


class ScalerState(NamedTuple):
    """What the host knows of a loss scaler; `GradScaler.state()`."""

    outcome: str
    """Of the last update: "applied", "bad_gradient", "bad_norm" (gradients are finite, their norm is not),
    "left_out" (the caller's word) or "bad_number" (a number on the device, such as a max_norm, is outside its range)."""
    tensor: Optional[int]
    """Number, in its optimizer's plan and on the rank that has it, of the first tensor with a gradient that is not
    finite."""
    parameter: Optional[str]
    """That tensor's name, where names were given, else its place: "group 0, parameter 3". None where it may be that of
    another rank, with tensors of its own."""
    updates: int
    skips: int
    skips_in_a_row: int
    growth_count: int
    """Applied steps since the scale was moved."""
    hysteresis_left: int
    scale: float
    previous_scale: float
    """Before the last update."""

    @property
    def applied(self) -> bool:
        """Whether the last step was applied."""
        return self.outcome == "applied"


def _nothing() -> None:
    return None


class History:
    """Where the reports of the last updates came from, held weakly, to name the tensors that they number."""

    def __init__(self) -> None:
        self.updates = 0
        self._kept: Deque[Tuple[int, List[Tuple[Any, Any]]]] = deque(maxlen=_KEPT_UPDATES)
        self._names: Dict[int, Tuple[Any, str]] = {}

    def restart(self, updates: int) -> None:
        self.updates = updates
        self._kept.clear()

    def add(self, reports: Sequence[Tuple[Any, Report]]) -> None:
        """An update by the reports of optimizers."""
        self.updates += 1
        kept = [(weakref.ref(o), weakref.ref(r.source) if r.is_common else _nothing) for o, r in reports]
        self._kept.append((self.updates, kept))

    def call(self, named: Iterable[Tuple[str, torch.Tensor]]) -> None:
        for name, parameter in named:
            self._names[id(parameter)] = (weakref.ref(parameter), name)

    def name(self, updates: int, report: int, tensor: int) -> Optional[str]:
        """The name of tensor number `tensor` of report number `report` of an update."""
        for number, reports in reversed(self._kept):
            if number <= updates:  # that update, or the last one before a graph made more of its kind
                optimizer, source = (reference() for reference in reports[report]) if report < len(reports) else (None, None)
                parameters = [] if source is None else source.parameters
                return self._of(optimizer, parameters[tensor]) if tensor < len(parameters) else None
        return None

    def _of(self, optimizer: Any, parameter: torch.Tensor) -> Optional[str]:
        reference, name = self._names.get(id(parameter), (None, ""))
        if reference is not None and reference() is parameter:
            return name
        for g, group in enumerate(optimizer.param_groups if optimizer is not None else ()):
            for i, other in enumerate(group["params"]):
                if other is parameter:
                    names = group.get("param_names")
                    return names[i] if names else f"group {g}, parameter {i}"
        return None
