"""Passes over the gradients of parameters: one plan each, made again only where a gradient changes its layout."""
from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import torch

from .. import _C
from ..context import context
from ..distributed import local_gradient
from ..optim.entries import target_of
from ..optim.metadata import DTYPES
from .core import stream_of

OPS = Path(__file__).with_name("gradients.fuse")
_PLAIN = (torch.Tensor, torch.nn.Parameter)

World = Optional[Callable[[torch.Tensor, str], None]]


class Moved(Exception):
    """A gradient is on another device than its pass."""


def gradient_of(parameter: torch.Tensor) -> Optional[torch.Tensor]:
    """The tensor with the values of a gradient: a DTensor's local part, a sparse one's values without
    duplicate indices (for which the gradient is replaced), a complex one's pairs of numbers."""
    gradient = parameter.grad
    if gradient is not None and gradient.is_sparse:
        if not gradient.is_coalesced():
            parameter.grad = gradient = gradient.coalesce()
        gradient = gradient._values()
    else:
        gradient = local_gradient(parameter)
    return torch.view_as_real(gradient) if gradient is not None and gradient.is_complex() else gradient


def by_device(parameters: Iterable[torch.Tensor]) -> Dict[torch.device, List[torch.Tensor]]:
    found: Dict[torch.device, List[torch.Tensor]] = {}
    for parameter in parameters:
        found.setdefault(parameter.device, []).append(parameter)
    return found


@lru_cache(maxsize=None)
def _op(name: str) -> Any:
    return context().parse(OPS.read_text(encoding="utf-8"), file=f"fusewright/amp/{OPS.name}", name=name)


@lru_cache(maxsize=None)
def _program(
    name: str, options: Tuple[Tuple[str, str], ...], dtypes: Tuple[Tuple[str, str], ...], target: str
) -> Tuple[Any, Tuple[str, ...]]:
    """The program, and the names of its operands with one value in all, in order."""
    request = _op(name).request()
    for option, value in options:
        request.option(option, value)
    for operand, dtype in dtypes:
        request.dtype(operand, dtype)
    request.target(target)
    shared = tuple(operand["name"] for operand in request.operands() if operand["scope"] == "all")
    return request.compile(), shared


class GradientPass:
    """An op of gradients.fuse over all gradients of some parameters on one device.

    Args:
        name: the op; its operand `g` is the gradient.
        device: of the gradients and of `shared`.
        shared: the operands that have one value in all, 0-d tensors.
        options: of the op.
        watches: keeps the parameters, and lets C look at their gradients. Otherwise it keeps neither.
        refused: dtypes of gradients that it does not take, and what the ValueError says.
    """

    def __init__(
        self,
        name: str,
        device: torch.device,
        shared: Mapping[str, torch.Tensor],
        options: Mapping[str, str] = {},  # noqa: B006 never written
        watches: bool = True,
        refused: Mapping[torch.dtype, str] = {},  # noqa: B006 never written
    ) -> None:
        self.name, self.device, self.shared = name, device, dict(shared)
        self.options = tuple(sorted(options.items()))
        self.watches, self.refused = watches, refused
        self.parameters: List[torch.Tensor] = []  # of the plan's entries, in their order, where it watches
        self.count = 0  # of gradients in the last run
        self._plan: Any = None
        self._is_watched = False
        self._absent: List[torch.Tensor] = []
        self._layouts: List[Any] = []
        self._addresses: List[int] = []

    def run(self, parameters: Sequence[torch.Tensor], scalars: Optional[Mapping[str, Any]] = None, world: World = None) -> None:
        """Runs over the parameters' gradients; those without one are left out. Waits for nothing on a GPU.

        Raises:
            Moved: a gradient is on another device.
        """
        stream = stream_of(self.device)
        if self._is_watched:
            if not any(parameter.grad is not None for parameter in self._absent):
                if self._plan.step(stream, scalars, world) == 0:
                    return
            self._build(parameters, [gradient_of(parameter) for parameter in parameters])
        else:
            gradients = [gradient_of(parameter) for parameter in parameters]
            if not self._refresh(gradients):
                self._build(parameters, gradients)
        self._plan.run(stream, scalars, world)

    def _refresh(self, gradients: Sequence[Optional[torch.Tensor]]) -> bool:
        """Gives the plan new addresses. False where it does not fit."""
        if self._plan is None or [_layout(gradient) for gradient in gradients] != self._layouts:
            return False
        present = [gradient for gradient in gradients if gradient is not None]
        addresses = [gradient.data_ptr() for gradient in present]
        if addresses != self._addresses:
            for number, members in enumerate(self._groups(present).values()):
                self._plan.set_pointers(number, "g", members)
            self._addresses = addresses
        return True

    def _groups(self, gradients: Iterable[torch.Tensor]) -> Dict[torch.dtype, List[torch.Tensor]]:
        found: Dict[torch.dtype, List[torch.Tensor]] = {}
        for gradient in gradients:
            found.setdefault(gradient.dtype, []).append(gradient)
        return found

    def _build(self, parameters: Sequence[torch.Tensor], gradients: Sequence[Optional[torch.Tensor]]) -> None:
        self._plan, self._is_watched = None, False
        pairs = [(p, g) for p, g in zip(parameters, gradients) if g is not None]
        for _, gradient in pairs:
            if gradient.device != self.device:
                raise Moved
        groups = self._groups(gradient for _, gradient in pairs) or {torch.float32: []}
        plan = _C.Plan(context(), [self._group(dtype, members) for dtype, members in groups.items()])
        self.count = len(pairs)
        self._layouts = [_layout(gradient) for gradient in gradients]
        self._addresses = [gradient.data_ptr() for _, gradient in pairs]
        if self.watches:
            members = {dtype: [p for p, g in pairs if g.dtype == dtype] for dtype in groups}
            self.parameters[:] = [p for group in members.values() for p in group]
            self._absent = [p for p, g in zip(parameters, gradients) if g is None]
            self._is_watched = bool(pairs) and all(type(p) in _PLAIN and p.grad is g for p, g in pairs)
            if self._is_watched:
                for number, owners in enumerate(members.values()):
                    plan.watch(number, "g", owners, "grad")
        self._plan = plan

    def _group(self, dtype: torch.dtype, gradients: Sequence[torch.Tensor]) -> Tuple[Any, List[Any], Dict[str, Any]]:
        if dtype in self.refused:
            raise ValueError(self.refused[dtype])
        if dtype not in DTYPES:
            raise TypeError(
                f"expected gradients of {', '.join(map(str, DTYPES))}, got {dtype}; "
                "use the calls of torch.nn.utils and torch.amp for their parameters"
            )
        dtypes = (("g", DTYPES[dtype]),) + tuple((name, DTYPES[tensor.dtype]) for name, tensor in self.shared.items())
        program, shared = _program(self.name, self.options, dtypes, target_of(self.device))
        return program, [*gradients, *(self.shared[name] for name in shared)], {}


def _layout(gradient: Optional[torch.Tensor]) -> Any:
    return None if gradient is None else (gradient.dtype, gradient.shape, gradient.stride(), gradient.device)
