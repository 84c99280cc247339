"""A table: one plan for the parameters of one device that have gradients, with what is needed to keep it true."""
from __future__ import annotations

import functools
import numbers
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

import torch

from .. import _C
from ..context import context
from ..distributed import local_tensor as local
from ..versions import bump
from .entries import Entries, target_of
from .layouts import gradient_of, is_same_layout, laid_out_like, wrapped_like
from .metadata import Kind, Program
from .staging import Handled, HandledGroup, Handling, copy
from .states import STEP

if TYPE_CHECKING:
    from .lanes import Lane

WATCH_ALL = -1


class Table:
    """The plan and what changes between its runs."""

    def __init__(self, lane: "Lane", is_scaled: bool) -> None:
        entries = Entries(lane, is_scaled)
        optimizer, device, self.lane = lane.optimizer, lane.device, lane
        self.optimizer, self.device, self.info, self.options = optimizer, device, optimizer._info, lane.options
        self.keys = list(entries.groups)
        self.lists = list(entries.groups.values())
        self.parameters = [parameter for parameters in self.lists for parameter in parameters]
        self.programs = [self.info.program(key.kind) for key in self.keys]
        self.counters = [optimizer._states[parameters[0]].get(STEP) if key.counter else None
                         for key, parameters in zip(self.keys, self.lists)]
        self.outs: Dict[str, torch.Tensor] = {}
        self.handling = self._handling(device)
        self.handled = {id(member.owner): member for group in (self.handling.groups if self.handling else ())
                        for member in group.members}
        self.is_volatile = False
        self.pins: List[Tuple[torch.Tensor, int]] = []
        self.plan = self._make_plan(entries.features)
        self.seen: Dict[int, Tuple[Any, Any]] = {}
        for number in {number for number, _ in lane.members}:
            self._remember(number, self.info.fetch(optimizer.param_groups[number]))
        self.skipped = [self.outs["all.skipped"]] if "all.skipped" in self.outs else []
        self.norm = self.outs.get("all.norm")
        self.absent = entries.absent
        self.state_watches = self.gradient_watches = 0
        self._watch()
        self._pin()
        self.bumped = [parameter for parameter in self.parameters if not parameter.is_inference()]
        self.is_idle = not self.keys and not self.outs
        self.is_cuda = device.type == "cuda"
        self.stream = functools.partial(int) if device.type == "cpu" else functools.partial(_C.current_stream, device.index)

    # -- making

    def _handling(self, device: torch.device) -> Optional[Handling]:
        zeroes = self.optimizer._settings.zero_gradients
        groups = []
        for number, (key, parameters) in enumerate(zip(self.keys, self.lists)):
            if key.is_handled:
                param = next(operand for operand in self.programs[number].operands if operand["name"] == self.info.param)
                members = [Handled(parameter, device, zeroes) for parameter in parameters]
                needs_old = param["read"] or "guard" in key.kind.features  # a skipped step gives back what it got
                groups.append(HandledGroup(number, (self.info.param, self.info.grad), members, needs_old, zeroes))
        return Handling(groups, device) if groups else None

    def _parameter(self, parameter: torch.Tensor) -> torch.Tensor:
        """What the plan has of a parameter."""
        member = self.handled.get(id(parameter))
        copy = member.parameter_copy if member else None
        return local(parameter) if copy is None else copy

    def _gradient(self, parameter: torch.Tensor) -> torch.Tensor:
        member = self.handled.get(id(parameter))
        copy = member.gradient_copy if member else None
        return gradient_of(parameter) if copy is None else copy

    def _tensors_of(self, number: int) -> List[Any]:
        """The tensors of one group in the order that a plan takes."""
        program, tensors = self.programs[number], []
        for parameter in self.lists[number]:
            state = self.optimizer._states[parameter]
            for operand in program.operands:
                if operand["scope"] == "all":
                    continue
                if operand["name"] == self.info.param:
                    tensors.append(self._parameter(parameter))
                elif operand["name"] == self.info.grad:
                    tensors.append(self._gradient(parameter))
                else:
                    tensors.append(self._state(parameter, operand))
        return tensors + self._outs_of(program)

    def _state(self, parameter: torch.Tensor, operand: Mapping[str, Any]) -> torch.Tensor:
        """A state as the plan has it. One that is laid out otherwise than its parameter, which module.to(memory_format=...)
        changes, is moved to memory that is not."""
        state, name = self.optimizer._states[parameter], self.info.state_name(operand["name"])
        tensor = local(state[name])
        model = self._parameter(parameter)
        if operand["scope"] != "element" or tensor.shape != model.shape or is_same_layout(tensor, model):
            return tensor
        moved = laid_out_like(model, tensor.dtype, tensor.device)
        copy([(moved, tensor)])
        state[name] = wrapped_like(parameter, moved)
        return moved

    def _outs_of(self, program: Program) -> List[torch.Tensor]:
        outs = []
        for operand in program.operands:
            if operand["scope"] == "all":
                if operand["name"] not in self.outs:
                    self.outs[operand["name"]] = self.lane.out(operand["name"])
                outs.append(self.outs[operand["name"]])
        return outs

    def _make_plan(self, features: Tuple[str, ...]) -> Any:
        groups = []
        for number in range(len(self.keys)):
            groups.append((self.programs[number].program, self._tensors_of(number), self._scalars_of(number)))
        return _C.Plan(context(), groups or self._group_of_nothing(features))

    def _group_of_nothing(self, features: Tuple[str, ...]) -> List[Any]:
        """Without a gradient the norm is still 0, and other ranks still wait for this one."""
        program = self.info.program(Kind(self.options, features, (), target_of(self.device)))
        outs = self._outs_of(program)
        scalars = {} if program.step is None else {program.step: 1.0}
        return [(program.program, outs, scalars)] if outs else []

    def _watch(self) -> None:
        """Watches owners of addresses."""
        for number, (key, parameters) in enumerate(zip(self.keys, self.lists)):
            if not key.is_handled:
                self.plan.watch(number, self.info.param, parameters)
                for operand in self._states_of(number):
                    states = [self._state(parameter, operand) for parameter in parameters]
                    self.state_watches |= 1 << self.plan.watch(number, operand["name"], states)
                self.gradient_watches |= 1 << self.plan.watch(number, self.info.grad, parameters, "grad")

    def _states_of(self, number: int) -> List[Mapping[str, Any]]:
        return [operand for operand in self.programs[number].operands
                if operand["scope"] != "all" and operand["name"] not in (self.info.param, self.info.grad)]

    def _pin(self) -> None:
        """Notes addresses that the plan has and does not look at: of numbers on the device, and of states of handled groups."""
        tensors = [counter for counter in self.counters if counter is not None]
        for key, parameters in zip(self.keys, self.lists):
            tensors += [value for _, _, value in self.info.hypers(self.optimizer.param_groups[key.group])]
        tensors += self.optimizer._settings.scalars().values()
        for number, (key, parameters) in enumerate(zip(self.keys, self.lists)):
            if key.is_handled:
                tensors += [self._state(parameter, operand) for operand in self._states_of(number) for parameter in parameters]
        self.pins = [(tensor, tensor.data_ptr()) for tensor in tensors if isinstance(tensor, torch.Tensor)]

    # -- numbers

    def _scalars_of(self, number: int) -> Dict[str, Any]:
        """Scalars of one group of the plan."""
        key, program = self.keys[number], self.programs[number]
        values: Dict[str, Any] = {}
        for name, shown, value in self.info.hypers(self.optimizer.param_groups[key.group]):
            if name in program.scalars:
                values[name] = self._number(shown, value)
        for name, value in self.optimizer._settings.scalars().items():
            values[name] = self._number(name.replace("all.", ""), value)
        if program.step is not None:
            values[program.step] = _C.Counter(self.counters[number])
        return values

    def _number(self, shown: str, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            if not isinstance(value, numbers.Real):
                raise ValueError(f"{shown}: expected a number or a tensor, got {value!r}; set another one in the param group")
            return float(value)
        if value.numel() != 1:
            raise RuntimeError(f"{shown}: expected a tensor of one element, got shape {tuple(value.shape)}; a param group has one value")
        if value.device == self.device and value.device.type != "cpu":
            return value.detach()
        if value.device.type != "cpu":
            raise RuntimeError(f"{shown}: expected a number, or a tensor on {self.device} as the parameters, got one on "
                               f"{value.device}; move it, or use an optimizer for each device")
        self.is_volatile = True  # its value may change in place, and only the host sees it
        return float(value)

    def refresh(self, groups: List[Dict[str, Any]]) -> bool:
        """Hands over the hypers that have changed; False: the options have, and the plan does not fit."""
        for number, (mark, old) in self.seen.items():
            values = self.info.fetch(groups[number])
            try:  # the hash comes first: a tensor's is its identity, and its == would wait for the device
                is_same = hash(values) == mark and values == old
            except TypeError:
                is_same = False
            if not (is_same and not self.is_volatile) and not self._renew(number, values):
                return False
        return True

    def _renew(self, number: int, values: Tuple[Any, ...]) -> bool:
        if self.info.chosen(self.optimizer.param_groups[number]) != self.options:
            return False
        for i, key in enumerate(self.keys):
            if key.group == number:
                self.plan.set_scalars(i, self._scalars_of(i))
        self._remember(number, values)
        self._pin()
        return True

    def _remember(self, number: int, values: Tuple[Any, ...]) -> None:
        try:
            self.seen[number] = hash(values), values
        except TypeError:  # betas as a list, which may change in place
            self.seen[number] = None, ()

    def forget_numbers(self) -> None:
        """The next run hands all numbers over again."""
        self.seen = {number: (None, ()) for number in self.seen}

    # -- running

    def has_counters(self) -> bool:
        """Whether parameters still have the counters that the plan advances."""
        return all(self.optimizer._states[parameter].get(STEP) is counter
                   for counter, parameters in zip(self.counters, self.lists) if counter is not None
                   for parameter in parameters)

    def run(self, scalars: Optional[Dict[str, Any]], world: Any, trusts_gradients: bool) -> bool:
        """Queues the step; False: nothing was done, the plan does not fit what the parameters are now."""
        handling = self.handling
        if handling is not None and not handling.fetch(self.plan):
            return False
        if not trusts_gradients:
            for parameter in self.absent:
                if parameter.grad is not None:
                    return False
        if self.is_idle:
            return True
        for tensor, address in self.pins:
            if tensor.data_ptr() != address:  # by .data, set_() or swap_tensors()
                return False
        watches = WATCH_ALL & ~self.gradient_watches if trusts_gradients else WATCH_ALL
        if not self.optimizer._are_states_out:
            watches &= ~self.state_watches
        if self.plan.step(self.stream(), scalars, world, watches):
            return False
        if self.is_cuda and _is_capturing():
            self.optimizer._captured[id(self)] = self  # a graph reads the plan's memory at each replay
        if handling is not None:
            handling.deliver()
            self.optimizer._copied += handling.gradients
        if not trusts_gradients:
            bump(self.bumped)
        return True


_is_capturing = torch.cuda.is_current_stream_capturing
