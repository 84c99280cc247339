"""Steps over several processes: one norm and one decision to skip for all ranks.

A plan that has a norm or a guard exchanges a few f64 numbers with the other ranks (fw_world of the C
API). `AllReduce` does that over a process group of torch.distributed; the rest of this module finds the
memory behind sharded parameters (DTensor, FSDP2) and refuses those that a sum over ranks would count
more than once.
"""
from __future__ import annotations

import math
from typing import Any, Iterable, List, Optional, Sequence, Tuple

import torch
import torch.distributed as dist

__all__ = ["AllReduce", "check_shards", "groups_of", "local_gradient", "local_tensor", "world_of"]

_PLAIN = (torch.Tensor, torch.nn.Parameter)


class AllReduce:
    """`world` of a plan's run: reduces f64 numbers in place over the ranks of a process group.

    The numbers of all ranks are gathered, and every rank reduces them in the order of the ranks. So all
    ranks get the same bits, and a NaN among the numbers of a maximum stays one, whatever the backend
    does with it. A run calls it once or twice with one or two numbers.

    Args:
        process_group: None is the default group of torch.distributed. Several are reduced over one behind
            the other, as for the dimensions of a mesh that tensors are sharded over.

    With NCCL nothing waits for the host, and the exchange may be captured in a graph. Gloo takes numbers of a
    GPU over the host, which waits for them.
    """

    __slots__ = ("groups", "size")

    def __init__(self, process_group: "dist.ProcessGroup | Sequence[dist.ProcessGroup] | None" = None) -> None:
        if not dist.is_available() or not dist.is_initialized():
            raise RuntimeError(
                "expected a process group, got torch.distributed that is not initialized; "
                "call torch.distributed.init_process_group first"
            )
        groups: Sequence[Any] = process_group if isinstance(process_group, (list, tuple)) else [process_group]
        sizes = [dist.get_world_size(group) for group in groups]
        if min(sizes, default=1) < 1:
            raise ValueError(
                "expected a process group that this process is in, got one without it; "
                "make the optimizer on the ranks of the group alone"
            )
        self.groups = [(group, size) for group, size in zip(groups, sizes) if size > 1]
        self.size = math.prod(sizes)

    def __call__(self, numbers: torch.Tensor, kind: str) -> None:
        """Reduces `numbers`, f64, in place; `kind` is "sum" or "max"."""
        if kind not in ("sum", "max"):
            raise ValueError(f'expected a reduction "sum" or "max", got "{kind}"; report this as a fault')
        flat = numbers.view(-1)
        for group, size in self.groups:
            gathered = _gather(flat, group, size)
            if kind == "sum":
                torch.sum(gathered, 0, out=flat)
            else:
                torch.amax(gathered, 0, out=flat)

    def __deepcopy__(self, memo: Any) -> AllReduce:
        return self  # groups are the process's

    def __repr__(self) -> str:
        return f"AllReduce({self.size} ranks)"


def _gather(numbers: torch.Tensor, group: Any, size: int) -> torch.Tensor:
    """One row per rank, in their order."""
    if numbers.is_cuda and dist.get_backend(group) == "gloo":
        return _gather(numbers.cpu(), group, size).to(numbers.device)
    gathered = numbers.new_empty((size, numbers.numel()))
    if numbers.is_cuda:
        dist.all_gather_into_tensor(gathered.view(-1), numbers, group=group)
    else:  # Gloo of every torch has this form
        dist.all_gather(list(gathered.unbind(0)), numbers, group=group)
    return gathered


def local_tensor(tensor: Any) -> Any:
    """The plain tensor with this rank's memory of a DTensor; anything else as it is.

    Waits, in stream order, for a value that a collective still writes. The shard of a rank may be
    empty: it has 0 elements then.
    """
    if type(tensor) in _PLAIN:
        return tensor
    local = getattr(tensor, "_local_tensor", None)
    if local is None:
        return tensor
    if type(local) not in _PLAIN and hasattr(local, "trigger_wait"):
        local = local.trigger_wait()  # AsyncCollectiveTensor
    return local


def local_gradient(parameter: torch.Tensor) -> Optional[torch.Tensor]:
    """This rank's memory of a parameter's gradient, None where it has none.

    Raises:
        RuntimeError: the gradient is laid out over ranks in another way than its parameter, such as a
            sum that is still to be made (Partial).
    """
    gradient = parameter.grad
    if gradient is None or type(gradient) in _PLAIN:
        return gradient
    placements, own = getattr(gradient, "placements", None), getattr(parameter, "placements", None)
    if placements is not None and placements != own:
        raise RuntimeError(
            f"expected a gradient with the placements of its parameter, {_names(own)}, got "
            f"{_names(placements)}; reduce it first: gradient.redistribute(placements=parameter.placements)"
        )
    return local_tensor(gradient)


def _names(placements: Optional[Sequence[Any]]) -> str:
    return "none" if placements is None else "(" + ", ".join(map(str, placements)) + ")"


def _ranks(process_group: Optional[dist.ProcessGroup]) -> List[int]:
    if process_group is None:
        return list(range(dist.get_world_size()))
    return dist.get_process_group_ranks(process_group)


def _spread(tensor: Any) -> Optional[Tuple[Any, Tuple[Any, ...]]]:
    """Mesh and placements of a DTensor."""
    placements = getattr(tensor, "placements", None)
    return None if placements is None else (tensor.device_mesh, tuple(placements))


def _is_shard(placement: Any) -> bool:
    return bool(placement.is_shard()) or type(placement).__name__ == "_StridedShard"


def check_shards(parameters: Iterable[torch.Tensor], process_group: Optional[dist.ProcessGroup] = None) -> None:
    """Refuses DTensors whose elements stand on more than one rank of the group.

    A norm over the group adds up what every rank has: elements that two ranks have would count twice.
    Tensors that are not DTensors are taken as what their rank alone has.

    Raises:
        ValueError: a parameter is replicated over ranks of the group, or a partial sum.
    """
    ranks = set(_ranks(process_group))
    seen = set()
    for number, parameter in enumerate(parameters):
        spread = _spread(parameter)
        if spread is None:
            continue
        mesh, placements = spread
        key = (id(mesh), placements)
        if key in seen:
            continue
        seen.add(key)
        for dimension, placement in enumerate(placements):
            shared = ranks.intersection(_ranks(mesh.get_group(dimension)))
            if len(shared) > 1 and not _is_shard(placement):
                raise ValueError(
                    f"expected parameters that are sharded over the process group, got parameter {number} with "
                    f"placements {_names(placements)}, of which {len(shared)} ranks of the group have the same "
                    "elements; give the group of the sharded dimension (mesh.get_group(name)), and parameters "
                    "that are replicated over it an optimizer of their own"
                )


def groups_of(tensor: Any) -> Tuple[dist.ProcessGroup, ...]:
    """The process groups that hold the parts of a DTensor: one per dimension of its mesh that it is sharded
    over. Empty for other tensors, and where every rank has all.

    Raises:
        RuntimeError: it is a sum that is still to be made (Partial).
    """
    spread = _spread(tensor)
    groups = []
    for dimension, placement in enumerate(spread[1] if spread else ()):
        if placement.is_partial():
            raise RuntimeError(
                f"expected a tensor that is sharded or replicated, got placements {_names(tensor.placements)}; "
                "reduce it first: tensor.redistribute(placements=...)"
            )
        if spread and _is_shard(placement) and spread[0].size(dimension) > 1:
            groups.append(spread[0].get_group(dimension))
    return tuple(groups)


def world_of(parameters: Iterable[torch.Tensor], adds: bool) -> Optional[AllReduce]:
    """What makes one decision, or one norm, of the ranks that hold parts of DTensors; None where none is sharded.

    Args:
        adds: it reduces sums, not maxima alone. Then all parameters must have their parts on the same ranks, or
            what one rank has more of is counted more than once.

    Raises:
        ValueError: they have not. The first parameter that differs is told.
    """
    listed = list(parameters)
    sets = [groups_of(parameter) for parameter in listed]
    # In the order of the parameters, which is that of all ranks: so they meet in the same exchanges.
    groups = list(dict.fromkeys(group for each in sets for group in each))
    other = next((number for number, each in enumerate(sets) if each != sets[0]), None)
    if adds and groups and other is not None:
        raise ValueError(
            f"expected parameters whose parts are on the same ranks, for a common norm, got {_told(listed[0])} for parameter 0 "
            f"and {_told(listed[other])} for parameter {other}; use an optimizer for each kind, and "
            "fusewright.amp.clip_grad_norm_ over all of them"
        )
    return AllReduce(groups) if groups else None


def _told(parameter: torch.Tensor) -> str:
    spread = _spread(parameter)
    return "a plain tensor" if spread is None else f"placements {_names(spread[1])}"
