"""Gradients of a model in one flat buffer per dtype and device.

An optimizer that reads a thousand `.grad` to find out whether one has moved needs longer for that than
for all else. Gradients that are views of one buffer share one version counter, which every accumulation
raises by one: where it has grown as it did when all were last seen in place, they are in place.
"""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Sequence, Tuple

import torch

from . import _C
from .distributed import local_tensor
from .warning import warn

__all__ = ["GradientArena"]

_ALIGNMENT = 16  # bytes; what kernels load at once
_CHECK_EVERY = 100  # steps: the counter is a tripwire, no proof
_STRAYS = 3  # checks in a row with replaced gradients that make a warning


def _dense_strides(tensor: torch.Tensor) -> Tuple[int, ...]:
    """The strides autograd gives a gradient: the parameter's where it is dense, else row-major ones."""
    shape, strides = tensor.shape, tensor.stride()
    expected = 1
    for stride, size in sorted((t, s) for t, s in zip(strides, shape) if s != 1):
        if stride != expected:
            return torch.empty(shape, device="meta").stride()
        expected *= size
    return strides


class _Moved(Exception):
    """A parameter has another shape, dtype or device than its place."""


class _Slot:
    """The place of one gradient."""

    __slots__ = ("parameter", "gradient", "address", "shape")

    def __init__(self, parameter: torch.Tensor, view: torch.Tensor) -> None:
        self.parameter = parameter
        self.shape = parameter.shape
        self.address = view.data_ptr()
        self.gradient = _like(parameter, view)

    def holds(self, gradient: torch.Tensor) -> bool:
        """Whether it is the view, with its memory: module.to() moves that of the same object."""
        return gradient is self.gradient and local_tensor(gradient).data_ptr() == self.address

    def take(self, gradient: torch.Tensor, flat: torch.Tensor) -> None:
        """Puts a gradient that came from elsewhere into the place."""
        _check_gradient(self.parameter)
        local = local_tensor(self.parameter)
        if self.parameter.shape != self.shape or (local.dtype, local.device) != (flat.dtype, flat.device):
            raise _Moved
        with torch.inference_mode(False), torch.no_grad():
            if gradient is self.gradient:  # its memory is another's now
                offset = (self.address - flat.data_ptr()) // flat.element_size()
                self.gradient = _like(self.parameter, flat.as_strided(local.shape, _dense_strides(local), offset))
            self.gradient.copy_(gradient)
        self.parameter.grad = self.gradient


def _like(parameter: Any, view: torch.Tensor) -> torch.Tensor:
    """The view as the gradient of a parameter that may be a DTensor."""
    placements = getattr(parameter, "placements", None)
    if placements is None:
        return view
    make: Any = type(parameter)
    return make.from_local(
        view, parameter.device_mesh, placements, run_check=False, shape=parameter.shape, stride=parameter.stride()
    )


class _Segment:
    """One buffer, and the gradients in it."""

    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        locals_ = [local_tensor(parameter) for parameter in parameters]
        first = locals_[0]
        step = max(1, _ALIGNMENT // first.element_size())
        offsets, total = [], 0
        for local in locals_:
            offsets.append(total)
            total += -(-local.numel() // step) * step
        with torch.inference_mode(False), torch.no_grad():
            self.flat = torch.zeros(total, dtype=first.dtype, device=first.device)
            self.slots = [
                _Slot(parameter, self.flat.as_strided(local.shape, _dense_strides(local), offset))
                for parameter, local, offset in zip(parameters, locals_, offsets)
            ]
        self._list()
        self.base = self.flat._version
        self.trusted = -1  # accumulations of a step after which all gradients were seen in place
        self.absent: List[_Slot] = list(self.slots)  # without a gradient when last seen

    def _list(self) -> None:
        """As `_C.has_gradients` takes them."""
        self.owners = [slot.parameter for slot in self.slots]
        self.views = [slot.gradient for slot in self.slots]

    def is_trusted(self) -> bool:
        """Whether as many accumulations came in as when all was last in place; they count anew then."""
        version = self.flat._version
        if version - self.base != self.trusted or any(slot.parameter.grad is not None for slot in self.absent):
            return False
        self.base = version
        return True

    def look(self) -> int:
        """Puts gradients back that were replaced. How many were, or came or went."""
        count, changes = self.flat._version - self.base, 0
        absent, before = [], {id(slot) for slot in self.absent}
        for slot in self.slots:
            gradient = slot.parameter.grad
            if gradient is None:
                absent.append(slot)
                changes += id(slot) not in before
            elif not slot.holds(gradient):
                slot.take(gradient, self.flat)
                changes += 1
            elif id(slot) in before:
                changes += 1
        if changes:
            self._list()
        self.absent = absent
        self.base = self.flat._version
        inside = len(self.slots) - len(absent)
        # Parameters that the model did not use make other counts; then every step looks.
        clean = not changes and inside and count > 0 and count % inside == 0
        self.trusted = count if clean else -1
        return changes

    def attach(self) -> None:
        """Gives those without a gradient one of zeros."""
        for slot in self.absent:
            if slot.parameter.grad is None:
                with torch.no_grad():
                    slot.gradient.zero_()
                slot.parameter.grad = slot.gradient

    def has_strays(self) -> bool:
        in_place = _C.has_gradients(self.owners, self.views, self.flat)
        if in_place is not None:
            return not in_place
        return any(slot.parameter.grad is not None and not slot.holds(slot.parameter.grad) for slot in self.slots)

    def zero(self) -> None:
        self.flat.zero_()
        self.base = self.flat._version


class GradientArena:
    """Gradients as views of one flat buffer per dtype and device.

    The semantics are those of `zero_grad(set_to_none=False)`: gradients are set to 0, never dropped. A
    parameter gets its place when its first gradient is there; until then its `.grad` is None, and the
    optimizer leaves it alone. Views begin at multiples of 16 bytes and have the strides of their
    parameter; what lies between them is 0, so that `buffers` may be reduced or summed as they are.

    Args:
        parameters: tensors, or an optimizer.
        attach: give every parameter that requires a gradient its place, filled with 0, at once. All of them
            count as having a gradient then, those that the model does not use too.
        debug: look at every gradient in every step.

    Optimizers of this package take one by `optimizer.use_arena()`. With others call `check()` before each
    step and `zero_()` behind it.

    Who replaces a gradient (`model.zero_grad()`, `p.grad = x`, `backward(create_graph=True)`) costs a copy:
    the next `check()` finds it and takes its values into the buffer. What shows it is the number of
    accumulations, compared with that of a step in which all gradients were seen in place, and a look at all
    of them every 100 steps. Behind the backward pass `p.grad = x` leaves that number as it is: say
    `check(full=True)` then. Accumulations into DTensors do not show (those of FSDP2 do): where there are such
    gradients, each check looks at all.

    `changes` grows whenever gradients have come, gone or moved, whoever called what found it: by it several
    readers of one arena know whether what they have seen is still so.
    """

    def __init__(
        self, parameters: "Iterable[torch.Tensor] | torch.optim.Optimizer", *, attach: bool = False, debug: bool = False
    ) -> None:
        self.debug = debug
        self._parameters: List[torch.Tensor] = []
        self.changes = 0
        self._clear()
        groups = getattr(parameters, "param_groups", None)
        self.add(parameters if groups is None else [p for group in groups for p in group["params"]])  # type: ignore[arg-type]
        if attach:
            self.attach()

    def _clear(self) -> None:
        self.changes += 1
        self._segments: List[_Segment] = []
        self._waiting: List[torch.Tensor] = list(self._parameters)  # for their first gradient
        self._checks = 0
        self._strays = 0

    # ---- What is in it ----------------------------------------------------------------------------

    @property
    def buffers(self) -> Tuple[torch.Tensor, ...]:
        """The flat buffers, 1-d. Writing to them is writing to the gradients."""
        return tuple(segment.flat for segment in self._segments)

    @property
    def nbytes(self) -> int:
        return sum(flat.numel() * flat.element_size() for flat in self.buffers)

    def __len__(self) -> int:
        """How many gradients have a place."""
        return sum(len(segment.slots) for segment in self._segments)

    def __repr__(self) -> str:
        return f"GradientArena({len(self)} of {len(self._parameters)} gradients, {self.nbytes} bytes)"

    @property
    def parameters(self) -> Sequence[torch.Tensor]:
        """Those that it was given, in their order."""
        return tuple(self._parameters)

    def add(self, parameters: Iterable[torch.Tensor]) -> None:
        """More parameters; their buffers are made when they have gradients.

        Raises:
            TypeError: something is no real floating-point tensor.
            ValueError: a parameter is in the arena already, or twice among the new ones.
        """
        added = list(parameters)
        known = {id(parameter) for parameter in self._parameters}
        for parameter in added:
            if not isinstance(parameter, torch.Tensor) or not parameter.is_floating_point():
                what = str(parameter.dtype) if isinstance(parameter, torch.Tensor) else type(parameter).__name__
                raise TypeError(f"expected parameters of a real floating-point dtype, got {what}; leave it out of the arena")
            if id(parameter) in known:
                raise ValueError(
                    f"expected each parameter once, got one of shape {tuple(parameter.shape)} again; "
                    "give add() new parameters alone"
                )
            known.add(id(parameter))
        self._parameters += added
        self._waiting += added

    def attach(self) -> None:
        """Gives every parameter that requires a gradient its place, filled with 0 where it has none."""
        self._take_in([p for p in self._waiting if p.requires_grad or p.grad is not None])
        for segment in self._segments:
            segment.attach()
        self.check(full=True)

    def detach(self) -> None:
        """Gives all gradients memory of their own; the arena is as new."""
        with torch.no_grad():
            for parameter in self._parameters:
                if parameter.grad is not None:
                    parameter.grad = parameter.grad.clone()
        self._clear()

    # ---- Steps ------------------------------------------------------------------------------------

    def check(self, full: bool = False) -> bool:
        """Whether all gradients are where they were at the last check, and none has come or gone.

        Called once before each step. Where something has changed, replaced gradients are back in their
        places when it returns.

        Args:
            full: look at each of them, whatever the number of accumulations says.

        Raises:
            TypeError: a gradient is sparse, or has another dtype than its parameter.
        """
        self._checks += 1
        full = full or self.debug or self._checks % _CHECK_EVERY == 0
        suspects = self._segments if full else [s for s in self._segments if not s.is_trusted()]
        strays = self._look(suspects) if suspects else 0
        newcomers = [p for p in self._waiting if p.grad is not None]
        if newcomers:
            self._take_in(newcomers)
        return not strays and not newcomers

    def zero_(self) -> None:
        """Sets all gradients to 0, in one memset per buffer."""
        if self.debug or any(segment.flat._version != segment.base or segment.has_strays() for segment in self._segments):
            self._look(self._segments)  # accumulated and never used, or replaced: none of them may be left behind
        for parameter in self._waiting:
            if parameter.grad is not None:
                parameter.grad = None
        for segment in self._segments:
            segment.zero()

    def _look(self, segments: Sequence[_Segment]) -> int:
        try:
            strays = sum(segment.look() for segment in segments)
        except _Moved:  # by module.to(), .half() ...: all places anew
            self._clear()
            return 1
        self.changes += strays
        self._strays = self._strays + 1 if strays else 0
        if self._strays == _STRAYS:
            warn(
                f"gradients left their arena in {_STRAYS} steps in a row (last: {strays}) and were copied back; call "
                "zero_grad() of the optimizer, or zero_() of the arena, instead of model.zero_grad()"
            )
        return strays

    def _take_in(self, newcomers: Sequence[torch.Tensor]) -> None:
        kinds: Dict[Tuple[torch.dtype, torch.device], List[torch.Tensor]] = {}
        for parameter in newcomers:
            _check_gradient(parameter)
            local = local_tensor(parameter)
            kinds.setdefault((local.dtype, local.device), []).append(parameter)
        for parameters in kinds.values():
            segment = _Segment(parameters)
            segment.look()
            self._segments.append(segment)
        self.changes += len(newcomers)
        taken = {id(parameter) for parameter in newcomers}
        self._waiting = [parameter for parameter in self._waiting if id(parameter) not in taken]

    # ---- Copies -----------------------------------------------------------------------------------

    def __getstate__(self) -> Dict[str, Any]:
        """Parameters and settings alone: a copy, pickled or not, is a new arena over the copied parameters."""
        return {"parameters": self._parameters, "debug": self.debug}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._parameters = list(state["parameters"])
        self.debug, self.changes = state["debug"], 0
        self._clear()


def _check_gradient(parameter: torch.Tensor) -> None:
    gradient = parameter.grad
    if gradient is None:
        return
    if gradient.layout is not torch.strided:
        raise TypeError(
            f"expected dense gradients, got one of layout {gradient.layout}; leave its parameter, of shape "
            f"{tuple(parameter.shape)}, out of the arena"
        )
    if gradient.dtype != parameter.dtype:
        raise TypeError(
            f"expected a gradient of its parameter's dtype, {parameter.dtype}, got {gradient.dtype}; "
            "leave the parameter out of the arena"
        )
