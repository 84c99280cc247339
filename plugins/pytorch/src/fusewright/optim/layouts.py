"""Memory layouts: which tensors a kernel takes as they are, and tensors that are laid out like others."""
from __future__ import annotations

from typing import Any, List, Tuple, cast

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ..distributed import local_gradient

Strides = Tuple[int, ...]


def significant_strides(tensor: torch.Tensor) -> Strides:
    """Strides of the dimensions whose strides mean something: those of more than one element."""
    if tensor.numel() == 0:
        return ()
    return tuple(stride for size, stride in zip(tensor.shape, tensor.stride()) if size != 1)


def is_same_layout(a: torch.Tensor, b: torch.Tensor) -> bool:
    return significant_strides(a) == significant_strides(b)


def _paces(tensor: torch.Tensor) -> List[Tuple[int, int]]:
    """(stride, size) from the fastest dimension to the slowest."""
    return sorted((stride, size) for size, stride in zip(tensor.shape, tensor.stride()) if size != 1)


def shares_memory_with_itself(tensor: torch.Tensor) -> bool:
    reach = 0
    for stride, size in _paces(tensor) if tensor.numel() else ():
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def is_direct(tensor: torch.Tensor) -> bool:
    """Whether a kernel writes the tensor where it stands: dense, or strided with a dimension of stride 1."""
    paces = _paces(tensor)
    return tensor.numel() == 0 or not paces or paces[0][0] == 1


def laid_out_like(tensor: torch.Tensor, dtype: torch.dtype, device: torch.device, pinned: bool = False) -> torch.Tensor:
    """Zeros with the shape and, where a kernel can write them, the strides of `tensor`."""
    if not is_direct(tensor) or tensor.numel() == 0:
        return torch.zeros(tensor.shape, dtype=dtype, device=device, pin_memory=pinned)
    span = 1 + sum(stride * (size - 1) for size, stride in zip(tensor.shape, tensor.stride()))
    flat = torch.zeros(span, dtype=dtype, device=device, pin_memory=pinned)
    return flat.as_strided(tensor.shape, tensor.stride())


def gradient_of(parameter: torch.Tensor) -> torch.Tensor:
    """This rank's gradient of a parameter that has one."""
    return cast(torch.Tensor, local_gradient(parameter))


def is_wrapper(tensor: torch.Tensor) -> bool:
    """Whether the tensor's memory is that of others: a DTensor's is its local shard's."""
    return type(tensor) not in (torch.Tensor, torch.nn.Parameter) and is_traceable_wrapper_subclass(tensor)


def wrapped_like(parameter: Any, shard: torch.Tensor) -> torch.Tensor:
    """`shard`, as a DTensor where the parameter is one."""
    if not is_wrapper(parameter):
        return shard
    make: Any = type(parameter)
    return make.from_local(shard, parameter.device_mesh, parameter.placements, run_check=False,
                           shape=parameter.shape, stride=parameter.stride())
