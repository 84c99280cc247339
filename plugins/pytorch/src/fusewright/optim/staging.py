"""Parameters that Python looks after in each step: layouts that kernels do not take, DTensors, other devices.

The slow road. A gradient whose strides are not its parameter's, a parameter without a dimension of stride 1 and,
with offload, every parameter and gradient is copied into a tensor that a kernel takes, and back where it is written.
"""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import torch

from ..distributed import local_gradient
from ..distributed import local_tensor as local
from .layouts import gradient_of, is_direct, is_same_layout, laid_out_like, shares_memory_with_itself, significant_strides


Pair = Tuple[Optional[torch.Tensor], Optional[torch.Tensor]]  # to, from


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor there, without waiting for a device where that is possible."""
    return tensor if tensor.device == device else tensor.to(device, non_blocking=device.type != "cpu")


class Handled:
    """One parameter: its tensors as the plan has them. `parameter_copy`, `gradient_copy`: None: used in place."""

    def __init__(self, owner: torch.Tensor, device: torch.device, zeroes: bool) -> None:
        shard, gradient = local(owner), gradient_of(owner)
        if zeroes and shares_memory_with_itself(gradient):
            raise RuntimeError("zero_gradients: expected gradients whose elements have memory of their own, got an "
                               "expanded one; turn zero_gradients off, or make the gradient contiguous")
        away = shard.device != device
        pinned = away and device.type == "cpu"
        self.owner = owner
        self.form = self._form(shard, gradient)
        self.parameter_copy: Optional[torch.Tensor] = None
        self.gradient_copy: Optional[torch.Tensor] = None
        if away or not is_direct(shard):
            self.parameter_copy = laid_out_like(shard, shard.dtype, device, pinned)
        kernel_layout = shard if self.parameter_copy is None else self.parameter_copy
        if away or not is_same_layout(gradient, kernel_layout):
            self.gradient_copy = laid_out_like(kernel_layout, gradient.dtype, device, pinned)

    @staticmethod
    def _form(*tensors: torch.Tensor) -> List[Any]:
        return [(tensor.dtype, tensor.device, tensor.shape, significant_strides(tensor)) for tensor in tensors]

    def gradient(self) -> Optional[torch.Tensor]:
        """The gradient of now, or None where the plan does not fit it or the parameter any more."""
        gradient = local_gradient(self.owner)
        if gradient is None or gradient.layout != torch.strided:
            return None
        return gradient if self._form(local(self.owner), gradient) == self.form else None


class HandledGroup:
    """The handled parameters of one group of a plan."""

    def __init__(self, number: int, names: Tuple[str, str], members: List[Handled], reads: bool, zeroes: bool) -> None:
        self.number, self.members, self.reads, self.zeroes = number, members, reads, zeroes
        self.param, self.grad = names
        self.addresses: Any = None

    def fetch(self, plan: Any) -> bool:
        """Brings the plan's copies and addresses up to date; False: it does not fit any more."""
        found = [member.gradient() for member in self.members]
        gradients = [gradient for gradient in found if gradient is not None]
        if len(gradients) < len(found):
            return False
        shards = [local(member.owner) for member in self.members]
        incoming: List[Pair] = [(member.gradient_copy, gradient) for member, gradient in zip(self.members, gradients)]
        if self.reads:
            incoming += [(member.parameter_copy, shard) for member, shard in zip(self.members, shards)]
        copy(incoming)
        self._point(plan, shards, gradients)
        return True

    def _point(self, plan: Any, shards: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]) -> None:
        addresses = [tensor.data_ptr() for tensor in (*shards, *gradients)]
        if addresses == self.addresses:
            return
        first = [shard if member.parameter_copy is None else member.parameter_copy
                 for member, shard in zip(self.members, shards)]
        second = [gradient if member.gradient_copy is None else member.gradient_copy
                  for member, gradient in zip(self.members, gradients)]
        plan.set_pointers(self.number, self.param, first)
        plan.set_pointers(self.number, self.grad, second)
        self.addresses = addresses

    def deliver(self) -> None:
        """Copies back what the run wrote; after a step that was skipped these are the bytes of before."""
        outgoing: List[Pair] = [(local(member.owner), member.parameter_copy) for member in self.members]
        if self.zeroes:
            outgoing += [(local_gradient(member.owner), member.gradient_copy) for member in self.members]
        copy(outgoing)


@torch.no_grad()
def copy(pairs: Sequence[Pair]) -> None:
    """to.copy_(from) for all pairs that have both, without waiting for a device."""
    for to, source in pairs:
        if to is not None and source is not None:
            to.copy_(source, non_blocking=True)


class Handling:
    """All handled groups of a plan."""

    def __init__(self, groups: List[HandledGroup], device: torch.device) -> None:
        self.groups = groups
        sources = {local(member.owner).device for group in groups for member in group.members}
        self.waits = sorted((source for source in sources if source.type == "cuda" and device.type == "cpu"), key=str)
        self.sent: List[Any] = []  # events behind the last copies from pinned memory
        self.gradients = sum(member.gradient_copy is not None for group in groups for member in group.members)

    def fetch(self, plan: Any) -> bool:
        if self.waits and torch.cuda.is_current_stream_capturing():
            raise RuntimeError('offload="cpu": expected a step outside of a graph capture, got one inside; the host computes '
                               "it, so capture the rest")
        for event in self.sent:
            event.synchronize()
        fits = all(group.fetch(plan) for group in self.groups)
        for source in self.waits:  # the host reads what the copies bring
            torch.cuda.current_stream(source).synchronize()
        return fits

    def deliver(self) -> None:
        for group in self.groups:
            group.deliver()
        self.sent = [torch.cuda.current_stream(source).record_event() for source in self.waits]
