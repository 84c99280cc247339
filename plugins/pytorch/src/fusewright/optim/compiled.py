"""The step under torch.compile: one op in place over lists of tensors, so that the graph does not break.

Tracing runs `prepare` for real: it makes states and a Traced, whose lists Dynamo guards. The graph holds the number of
the Traced; hypers are read when the op runs, so a new learning rate compiles nothing again. Tensors are those that the
graph hands over, which may be copies.
"""
from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from .. import _C
from .layouts import gradient_of, is_direct, is_wrapper, laid_out_like
from .staging import copy
from .tables import Table

if TYPE_CHECKING:
    from .lanes import Lane
    from .optimizer import Optimizer

_numbers = itertools.count(1)
_traced: "weakref.WeakValueDictionary[int, Traced]" = weakref.WeakValueDictionary()
_library: Any = None
SCHEMA = ("optimizer_step_(Tensor(a!)[] parameters, Tensor[] gradients, Tensor(b!)[] states, Tensor(c!)[] counters, "
          "int optimizer) -> ()")


class ListTable(Table):
    """A table whose tensors are given anew for each run."""

    def _handling(self, device: torch.device) -> None:
        return None

    def _watch(self) -> None:
        pass

    def _parameter(self, parameter: torch.Tensor) -> torch.Tensor:
        return parameter if is_direct(parameter) else laid_out_like(parameter, parameter.dtype, parameter.device)

    def _gradient(self, parameter: torch.Tensor) -> torch.Tensor:
        return laid_out_like(parameter, gradient_of(parameter).dtype, parameter.device)  # a stand-in: addresses come with each run

    def run_lists(self, columns: List[Dict[str, List[torch.Tensor]]], counters: List[Optional[torch.Tensor]],
                  scalars: Optional[Dict[str, Any]]) -> None:
        """One run. columns: for each group the tensors of each operand; counters: for each group."""
        if any(new is not old for new, old in zip(counters, self.counters)):
            self.counters = counters
            self.forget_numbers()
        if not self.refresh(self.optimizer.param_groups):
            raise RuntimeError("expected the options with which the step was compiled, got others; call torch.compiler.reset()")
        read: List[Tuple[torch.Tensor, torch.Tensor]] = []  # the plan has addresses alone: copies live until the run is queued
        written: List[Tuple[torch.Tensor, torch.Tensor]] = []
        for number, operands in enumerate(columns):
            for operand in self.programs[number].operands:
                if operand["name"] in operands:
                    pairs = self._point(number, operand["name"], operands[operand["name"]])
                    (written if operand["written"] else read).extend(pairs)
        self.plan.run(self.stream(), scalars, self.optimizer._world)
        copy(written)

    def _point(self, number: int, name: str, tensors: List[torch.Tensor]) -> List[Tuple[torch.Tensor, torch.Tensor]]:
        """Gives the plan the addresses; where a layout is another one than the plan's, those of copies: (tensor, copy)."""
        try:
            self.plan.set_pointers(number, name, tensors)
            return []
        except _C.Error:
            models = [self._parameter(parameter) for parameter in self.lists[number]]
            copies = [laid_out_like(model, tensor.dtype, tensor.device) for model, tensor in zip(models, tensors)]
            copy(list(zip(copies, tensors)))
            self.plan.set_pointers(number, name, copies)
            return list(zip(tensors, copies))


class Traced:
    """What one compiled step works on: lists in the order of the op's arguments."""

    def __init__(self, optimizer: "Optimizer", lane: "Lane") -> None:
        self.optimizer, self.lane = weakref.ref(optimizer), lane
        self.tables: Dict[bool, ListTable] = {}
        table = self._table(False)
        self.absent = table.absent
        self.parameters = table.parameters
        self.names = [[operand["name"] for operand in program.operands if operand["scope"] != "all"]
                      for program in table.programs]
        self.states = [optimizer._states[parameter][table.info.state_name(name)]
                       for names, parameters in zip(self.names, table.lists) for parameter in parameters
                       for name in names if name not in (table.info.param, table.info.grad)]
        unique = {id(counter): counter for counter in table.counters if counter is not None}
        self.counters = list(unique.values())
        self.places = [list(unique).index(id(counter)) if counter is not None else None for counter in table.counters]

    def _table(self, is_scaled: bool) -> ListTable:
        if is_scaled not in self.tables:
            self.tables[is_scaled] = ListTable(self.lane, is_scaled)
        return self.tables[is_scaled]

    def run(self, parameters: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor], states: Sequence[torch.Tensor],
            counters: Sequence[torch.Tensor]) -> None:
        optimizer = self.optimizer()
        if optimizer is None:
            raise RuntimeError("expected an optimizer that is alive, got one that is gone; keep it beside the compiled step")
        scaling = optimizer._scaling_now()
        if scaling is not None and optimizer._settings.zero_gradients:
            raise RuntimeError("expected no zero_gradients in a compiled step under a scaler; call zero_grad() instead")
        table = self._table(scaling is not None)
        rest, entry, columns = iter(states), 0, []
        for names, members in zip(self.names, table.lists):
            column: Dict[str, List[torch.Tensor]] = {name: [] for name in names}
            for _ in members:
                for name in names:
                    column[name].append(parameters[entry] if name == table.info.param else
                                        gradients[entry] if name == table.info.grad else next(rest))
                entry += 1
            columns.append(column)
        table.run_lists(columns, [None if place is None else counters[place] for place in self.places], scaling)
        optimizer._ran = [table]


def register() -> None:
    """Defines the op, on first use."""
    global _library
    if _library is not None:
        return
    library = torch.library.Library("fusewright", "FRAGMENT")
    tags = [torch.Tag.pt2_compliant_tag]
    if hasattr(torch.Tag, "cudagraph_unsafe"):  # a replay would keep the hypers of the recording
        tags.append(torch.Tag.cudagraph_unsafe)
    library.define(SCHEMA, tags=tags)
    library.impl("optimizer_step_", _optimizer_step, "CompositeExplicitAutograd")
    torch.library.register_fake("fusewright::optimizer_step_", lambda *arguments: None, lib=library)
    _library = library


def _optimizer_step(parameters: Any, gradients: Any, states: Any, counters: Any, optimizer: int) -> None:
    traced = _traced.get(optimizer)
    if traced is None:
        raise RuntimeError("expected states that are what they were when the step was compiled, got others; call the compiled "
                           "function, not a graph of its own")
    traced.run(parameters, gradients, states, counters)


def attribute(number: int) -> str:
    return f"_traced_{number}"


def prepare(optimizer: "Optimizer") -> int:
    """Makes states and plan for the parameters that have gradients; the number of its Traced. Runs while Dynamo traces."""
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 5):
        raise RuntimeError(f"expected torch 2.5 or newer for a compiled step, got {torch.__version__}; call step() outside of the "
                           "compiled function")
    if optimizer._is_listened_to():
        raise RuntimeError("expected no step hooks and no profiler inside of a compiled function, got some; call step() outside")
    if optimizer._settings.zero_gradients and optimizer._settings.guard:
        raise RuntimeError("expected zero_gradients or guard inside of a compiled function, got both; call zero_grad() instead")
    lanes = optimizer._lanes_now()
    if len(lanes) != 1 or optimizer._settings.offload or any(is_wrapper(parameter) for _, parameter in lanes[0].members):
        raise RuntimeError("expected plain parameters on one device, with one set of options and without offload, for a compiled "
                           "step, got others; call step() outside of the compiled function")
    register()
    number = next(_numbers)
    traced = Traced(optimizer, lanes[0])
    _traced[number] = traced
    optimizer._compiled_numbers.append(number)
    setattr(optimizer, attribute(number), traced)
    return number


def tables_of(optimizer: "Optimizer") -> List[ListTable]:
    return [table for number in optimizer._compiled_numbers for table in optimizer.__dict__[attribute(number)].tables.values()]


def forget(optimizer: "Optimizer") -> None:
    """States or parameters have changed: guards of compiled steps fail, and they are compiled anew."""
    for number in optimizer._compiled_numbers:
        traced = optimizer.__dict__.pop(attribute(number), None)
        for tensors in (traced.parameters, traced.states, traced.counters, traced.absent) if traced else ():
            tensors.clear()
    optimizer._compiled_numbers.clear()


def compiled_step(optimizer: "Optimizer", closure: Optional[Callable[[], Any]]) -> Any:
    """What is traced in the place of step()."""
    loss = None
    if closure is not None:
        with torch.enable_grad():
            loss = closure()
    number = optimizer._prepare_compiled()
    traced = getattr(optimizer, attribute(number))
    for parameter in traced.absent:
        if parameter.grad is not None:
            raise RuntimeError("expected gradients that are there when the step is compiled, got one made inside; call backward() "
                               "outside of the compiled function, or step once before")
    gradients = [parameter.grad for parameter in traced.parameters]
    with torch.no_grad():
        torch.ops.fusewright.optimizer_step_(traced.parameters, gradients, traced.states, traced.counters, number)
    return loss
