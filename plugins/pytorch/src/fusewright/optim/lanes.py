"""A lane: the parameters whose step is computed on one device, and the tables for what they looked like lately."""
from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import torch

from ..distributed import AllReduce, check_shards, groups_of, local_gradient
from ..distributed import local_tensor as local
from .entries import check
from .tables import Table

if TYPE_CHECKING:
    from .optimizer import Optimizer

KEPT = 8  # tables, each with its plan's device memory


class Lane:
    def __init__(self, optimizer: "Optimizer", device: torch.device) -> None:
        self.optimizer, self.device = optimizer, device
        self.members: List[Tuple[int, torch.Tensor]] = []  # number of the param group, parameter
        self.current: Dict[bool, Table] = {}  # by whether gradients are scaled
        self.tables: "OrderedDict[Any, Table]" = OrderedDict()

    def step(self, scaling: Optional[Dict[str, Any]], world: Any, trusts_gradients: bool) -> Table:
        """One step; the table that made it."""
        is_scaled = scaling is not None
        table = self.current.get(is_scaled)
        if table is not None and table.refresh(self.optimizer.param_groups) and table.run(scaling, world, trusts_gradients):
            return table
        table = self._find(is_scaled)
        if not table.refresh(self.optimizer.param_groups) or not table.run(scaling, world, False):
            raise RuntimeError("expected parameters and gradients that stay as they are during a step, got others than a "
                               "moment ago; keep other threads from changing them")
        return table

    def _find(self, is_scaled: bool) -> Table:
        signature = is_scaled, self._signature()
        table = self.tables.pop(signature, None)
        if table is None or not table.has_counters():
            table = Table(self.optimizer, self.device, is_scaled, self.members)
            self.optimizer._plans_made += 1
        self.tables[signature] = self.current[is_scaled] = table
        while len(self.tables) > KEPT:
            self.tables.popitem(last=False)
        return table

    def _signature(self) -> Any:
        """What a plan depends on, but for addresses and numbers."""
        groups = self.optimizer.param_groups
        options = tuple(self.optimizer._info.chosen(group) for group in groups)
        return options, tuple(self._form(parameter) for _, parameter in self.members)

    def _form(self, parameter: torch.Tensor) -> Any:
        if parameter.grad is None:
            return None
        check(parameter)
        shard, gradient = local(parameter), local_gradient(parameter)
        if self.optimizer._settings.device_of(shard) != self.device:
            raise RuntimeError(f"expected a parameter on {self.device} as at the step before, got one on {shard.device}; load "
                               "the optimizer's own state_dict() again behind model.to()")
        return shard.device, shard.dtype, shard.shape, shard.stride(), gradient.device, gradient.dtype, gradient.stride()


def lanes_of(optimizer: "Optimizer") -> List[Lane]:
    """One lane for each device. RuntimeError where devices would have to decide together."""
    lanes: Dict[torch.device, Lane] = {}
    for number, group in enumerate(optimizer.param_groups):
        for parameter in group["params"]:
            device = optimizer._settings.device_of(local(parameter))
            lanes.setdefault(device, Lane(optimizer, device)).members.append((number, parameter))
    if len(lanes) > 1 and (optimizer._settings.couples_parameters() or optimizer._settings.process_group is not None):
        refuse_devices(list(lanes))
    return list(lanes.values())


def refuse_devices(devices: List[torch.device]) -> None:
    raise RuntimeError(f"expected all parameters on one device for a common norm or a common decision to skip, got "
                       f"{', '.join(map(str, devices))}; use an optimizer for each device")


def world_of(optimizer: "Optimizer") -> Optional[AllReduce]:
    """The ranks that share a norm or a decision to skip; None: this one alone."""
    group = optimizer._process_group
    parameters = [parameter for members in optimizer.param_groups for parameter in members["params"]]
    if group is not None:
        check_shards(parameters, group)
        return AllReduce(group)
    groups = {groups_of(parameter) for parameter in parameters} - {()}
    if len(groups) > 1 and optimizer._settings.couples_parameters():
        raise RuntimeError(f"expected parameters that are sharded over the same ranks, for a common norm or a common decision to "
                           f"skip, got {len(groups)} sets of ranks; use an optimizer for each")
    return AllReduce(list(groups.pop())) if len(groups) == 1 else None
