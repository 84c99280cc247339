"""Entries of a plan: which parameters have gradients, which of them share a group, and what is refused by name."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Tuple

import torch

from ..distributed import local_tensor as local
from .layouts import gradient_of, is_direct, is_same_layout, is_wrapper, shares_memory_with_itself
from .metadata import DTYPES, Kind
from .states import STEP, complete, state_operands

if TYPE_CHECKING:
    from .lanes import Lane

MOST_WATCHED = 9  # groups; a plan has 63 watches: of a parameter, its gradient, and up to five states


class Key(NamedTuple):
    """What the entries of one group of a plan have in common."""

    group: int  # number of the param group
    kind: Kind
    counter: int  # id of the counter's tensor
    is_handled: bool


def target_of(device: torch.device) -> str:
    return "cpu" if device.type == "cpu" else f"{device.type}:{device.index or 0}"


def check(parameter: torch.Tensor) -> None:
    """RuntimeError for a parameter or gradient that no kernel of ours takes."""
    for what, tensor in (("parameters", parameter), ("gradients", parameter.grad)):
        if tensor is None:
            continue
        if tensor.is_sparse or tensor.layout != torch.strided:
            raise RuntimeError(f"expected dense {what}, got layout {tensor.layout}; use sparse=False, or torch.optim.SparseAdam")
        if tensor.dtype not in DTYPES:
            raise RuntimeError(f"expected {what} in {', '.join(map(str, DTYPES))}, got {tensor.dtype}; "
                               "complex and integer parameters need an optimizer of torch's")
    shard = local(parameter)
    if shard.device.type not in ("cpu", "cuda"):
        raise RuntimeError(f"expected parameters on the CPU or a CUDA device, got {shard.device}; move the model first")
    if shares_memory_with_itself(shard):
        raise RuntimeError(f"expected parameters whose elements have memory of their own, got strides {tuple(shard.stride())} "
                           f"for shape {tuple(shard.shape)}; make a contiguous copy the parameter")


class Entries:
    """Entries of the plan's groups while the plan is made."""

    def __init__(self, lane: "Lane", is_scaled: bool) -> None:
        self.optimizer, self.device, self.options = lane.optimizer, lane.device, lane.options
        self.info, self.settings = self.optimizer._info, self.optimizer._settings
        self.features = self.settings.features(self.info, lane.has_masters, is_scaled)
        self.has_step = self.info.has_step(self.options)
        self.groups: Dict[Key, List[torch.Tensor]] = {}
        self.absent: List[torch.Tensor] = []
        self._collect(lane.members)

    def _collect(self, members: List[Tuple[int, torch.Tensor]]) -> None:
        present = []
        for number, parameter in members:
            if parameter.grad is None:
                self.absent.append(parameter)
                continue
            check(parameter)
            present.append((number, parameter))
            complete(self.optimizer._states[parameter], parameter, self.info, self.settings, self.options, self.features)
        if self.has_step:
            self._count([parameter for _, parameter in present])
        for number, parameter in present:
            self.groups.setdefault(self._key(number, parameter), []).append(parameter)

    def _count(self, counted: List[torch.Tensor]) -> None:
        self.optimizer._counters.start(counted, self.device)
        if self.optimizer._counters.part(counted):
            self.optimizer._forget_compiled()

    def _key(self, number: int, parameter: torch.Tensor) -> Key:
        state, shard, gradient = self.optimizer._states[parameter], local(parameter), gradient_of(parameter)
        dtypes = [(self.info.param, DTYPES[shard.dtype]), (self.info.grad, DTYPES[gradient.dtype])]
        for operand in state_operands(self.info, self.options, self.features):
            dtypes.append((operand["name"], self._dtype_of_state(state, operand["name"])))
        kind = Kind(self.options, self.features, tuple(dtypes), target_of(self.device))
        handled = (is_wrapper(parameter) or shard.device != self.device or not is_direct(shard)
                   or not is_same_layout(shard, gradient))
        key = Key(number, kind, id(state[STEP]) if self.has_step else 0, handled)
        return key if key in self.groups or len(self.groups) < MOST_WATCHED else key._replace(is_handled=True)

    def _dtype_of_state(self, state: Mapping[str, Any], operand: str) -> str:
        name = self.info.state_name(operand)
        tensor = local(state[name])
        if tensor.device != self.device:
            raise RuntimeError(f"{name}: expected a state on {self.device} as its parameter, got {tensor.device}; make the "
                               "optimizer behind model.to(), or load its own state_dict() again")
        if tensor.dtype not in DTYPES:
            raise RuntimeError(f"{name}: expected a state in {', '.join(map(str, DTYPES))}, got {tensor.dtype}; load another one")
        return DTYPES[tensor.dtype]
