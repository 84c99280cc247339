"""Version counters: what tells autograd of changes in place, so that a backward through older values is refused."""
from __future__ import annotations

from typing import List

import torch

from . import _C


def bump(tensors: List[torch.Tensor]) -> None:
    """Raises the versions of tensors that have changed."""
    if not _C.raise_versions(tensors):  # as torch's own C functions do; not in torch 2.4
        for tensor in tensors:
            torch.autograd.graph.increment_version(tensor)
