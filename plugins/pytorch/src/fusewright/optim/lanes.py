"""A lane: the parameters of one device and one set of options, which a plan takes together, and the tables for what they
looked like lately."""
from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import torch

from ..distributed import AllReduce, check_shards
from ..distributed import local_tensor as local
from ..distributed import world_of as world_of_parts
from .entries import check
from .layouts import gradient_of
from .metadata import Options
from .tables import Table

if TYPE_CHECKING:
    from .optimizer import Optimizer

KEPT = 8  # tables, each with its plan's device memory


class Lane:
    def __init__(self, optimizer: "Optimizer", device: torch.device, options: Options) -> None:
        self.optimizer, self.device, self.options = optimizer, device, options
        self.members: List[Tuple[int, torch.Tensor]] = []  # number of the param group, parameter
        self.current: Dict[bool, Table] = {}  # by whether gradients are scaled
        self.tables: "OrderedDict[Any, Table]" = OrderedDict()
        self.outs: Dict[str, torch.Tensor] = {}  # what a step tells, the same memory in all plans

    @property
    def has_masters(self) -> bool:
        return self.optimizer._settings.has_masters(parameter for _, parameter in self.members)

    def has_options(self, is_scaled: bool) -> bool:
        """Hands changed hypers over; False: options have changed, and parameters belong to other lanes."""
        table, groups = self.current.get(is_scaled), self.optimizer.param_groups
        if table is not None:
            return table.refresh(groups)
        return all(self.optimizer._info.chosen(groups[number]) == self.options for number in {number for number, _ in self.members})

    def prepare(self, is_scaled: bool) -> None:
        if is_scaled not in self.current:
            self._find(is_scaled)

    def out(self, name: str) -> torch.Tensor:
        if name not in self.outs:
            self.outs[name] = torch.zeros((), dtype=torch.float32, device=self.device)
        return self.outs[name]

    def step(self, scaling: Optional[Dict[str, Any]], world: Any, trusts_gradients: bool) -> Table:
        """One step, behind has_options(); the table that made it."""
        is_scaled = scaling is not None
        table = self.current.get(is_scaled)
        if table is not None and table.run(scaling, world, trusts_gradients):
            return table
        table = self._find(is_scaled)
        if not table.run(scaling, world, False):  # states have moved: no table that was made before fits
            self.tables.clear()
            table = self._find(is_scaled)
            if not table.run(scaling, world, False):
                raise RuntimeError("expected parameters and gradients that stay as they are during a step, got others than a "
                               "moment ago; keep other threads from changing them")
        return table

    def _find(self, is_scaled: bool) -> Table:
        signature = is_scaled, tuple(self._form(parameter) for _, parameter in self.members)
        table = self.tables.pop(signature, None)
        if table is None or not table.has_counters() or not table.refresh(self.optimizer.param_groups):
            table = Table(self, is_scaled)
            self.optimizer._plans_made += 1
        self.tables[signature] = self.current[is_scaled] = table
        while len(self.tables) > KEPT:
            self.tables.popitem(last=False)
        return table

    def _form(self, parameter: torch.Tensor) -> Any:
        """What a plan depends on, but for addresses and numbers."""
        if parameter.grad is None:
            return None
        check(parameter)
        shard, gradient = local(parameter), gradient_of(parameter)
        if self.optimizer._settings.device_of(shard) != self.device:
            raise RuntimeError(f"expected a parameter on {self.device} as at the step before, got one on {shard.device}; load "
                               "the optimizer's own state_dict() again behind model.to()")
        return shard.device, shard.dtype, shard.shape, shard.stride(), gradient.device, gradient.dtype, gradient.stride()


def lanes_of(optimizer: "Optimizer") -> List[Lane]:
    """One lane for each device and set of options. RuntimeError where they would have to decide together."""
    lanes: Dict[Any, Lane] = {}
    for number, group in enumerate(optimizer.param_groups):
        options = optimizer._info.chosen(group)
        for parameter in group["params"]:
            device = optimizer._settings.device_of(local(parameter))
            lanes.setdefault((device, options), Lane(optimizer, device, options)).members.append((number, parameter))
    if not lanes and optimizer._process_group is not None:  # other ranks wait for this one
        options = optimizer._info.chosen(optimizer.param_groups[0])
        lanes[None] = Lane(optimizer, device_of_exchanges(optimizer._process_group), options)
    if len(lanes) > 1 and (optimizer._settings.couples_parameters() or optimizer._settings.process_group is not None):
        refuse_lanes(list(lanes.values()))
    return list(lanes.values())


def device_of_exchanges(process_group: Any) -> torch.device:
    """Where a rank without parameters takes part in what its group reduces."""
    backend = torch.distributed.get_backend(process_group)
    return torch.device("cuda", torch.cuda.current_device()) if "nccl" in backend else torch.device("cpu")


def refuse_lanes(lanes: List[Lane]) -> None:
    got = ", ".join(f"{lane.device} with {' '.join('='.join(option) for option in lane.options) or 'none'}" for lane in lanes)
    raise RuntimeError("expected all parameters on one device and with one set of options, for a common norm or a common decision "
                       f"to skip, got {got}; use an optimizer for each")


def world_of(optimizer: "Optimizer") -> Optional[AllReduce]:
    """The ranks that share a norm or a decision to skip; None: this one alone."""
    group = optimizer._process_group
    parameters = [parameter for members in optimizer.param_groups for parameter in members["params"]]
    if group is not None:
        check_shards(parameters, group)
        return AllReduce(group)
    return world_of_parts(parameters, adds=optimizer._settings.max_norm is not None)
