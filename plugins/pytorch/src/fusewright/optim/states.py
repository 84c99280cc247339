"""States of parameters: dicts that tell when somebody replaces a tensor, their first values, counters of equal age."""
from __future__ import annotations

from collections import defaultdict
from typing import Any, Callable, Dict, Iterable, List, Tuple

import torch

from ..distributed import local_tensor as local
from .layouts import laid_out_like, wrapped_like
from .metadata import ADDED, OpInfo, Options
from .settings import Settings

STEP = "step"


def _telling(base: type, name: str) -> Callable[..., Any]:
    method = getattr(base, name)

    def tell(self, *arguments, **named):
        self.changed()
        return method(self, *arguments, **named)

    tell.__name__ = name
    return tell


class State(dict):
    """State of one parameter. Plans hold addresses of its tensors: a changed entry is told, and they are made anew."""

    __slots__ = ("changed",)

    def __init__(self, changed: Callable[[], None], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.changed = changed

    def __reduce__(self):
        return dict, (dict(self),)


class States(defaultdict):
    """`optimizer.state`: parameter -> State."""

    def __init__(self, changed: Callable[[], None], items: Dict[Any, Any]) -> None:
        super().__init__(dict)
        self.changed = changed
        for key, value in items.items():
            self[key] = value

    def __missing__(self, key: Any) -> State:
        state = State(self.changed)
        super().__setitem__(key, state)  # nothing that a plan knows has changed
        return state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.changed()
        super().__setitem__(key, State(self.changed, value) if isinstance(value, dict) else value)

    def update(self, *arguments: Any, **named: Any) -> None:
        for key, value in dict(*arguments, **named).items():
            self[key] = value

    def __ior__(self, other: Any) -> "States":
        self.update(other)
        return self

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def __reduce__(self):
        return defaultdict, (dict, {key: dict(value) if isinstance(value, dict) else value for key, value in self.items()})


for _class, _base, _methods in ((State, dict, "__setitem__ __delitem__ __ior__ clear pop popitem setdefault update"),
                                (States, defaultdict, "__delitem__ clear pop popitem")):
    for _method in _methods.split():
        setattr(_class, _method, _telling(_base, _method))


def _first_value(info: OpInfo, operand: Any, shard: torch.Tensor, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    if operand["scope"] != "element":
        return torch.full((), operand["init"], dtype=torch.float32, device=device)
    made = laid_out_like(shard, dtype, device)
    if operand["name"].startswith(info.param + "."):  # what features add follows the parameter
        made.copy_(shard)
    elif operand["init"]:
        made.fill_(operand["init"])
    return made


def state_operands(info: OpInfo, options: Options, features: Tuple[str, ...]) -> List[Any]:
    """Operands that live in `optimizer.state`."""
    return [operand for operand in info.operands(options, features)
            if operand["role"] in ("state", "out") and operand["scope"] != "all"]


@torch.no_grad()
def complete(state: State, parameter: torch.Tensor, info: OpInfo, settings: Settings, options: Options,
             features: Tuple[str, ...]) -> List[str]:
    """Makes the states that are missing, and gives their names."""
    shard, device, made = local(parameter), settings.device_of(local(parameter)), []
    if "master" not in features:
        dict.pop(state, ADDED["master"], None)  # it would not follow the parameter
    for operand in state_operands(info, options, features):
        name = info.state_name(operand["name"])
        if state.get(name) is None:
            dtype = settings.dtype_of(info, operand["name"], shard)
            value = _first_value(info, operand, shard, dtype, device)
            dict.__setitem__(state, name, wrapped_like(parameter, value) if operand["scope"] == "element" else value)
            made.append(name)
    return made


class Counters:
    """Numbers of applied steps. Parameters of equal age share one 0-d tensor on their device: an age class."""

    def __init__(self, states: States) -> None:
        self.states = states

    def start(self, parameters: Iterable[torch.Tensor], device: torch.device) -> None:
        """Parameters without a counter become one class of age 0."""
        fresh = None
        for parameter in parameters:
            state = self.states[parameter]
            if state.get(STEP) is None:
                fresh = torch.zeros((), dtype=torch.float32, device=device) if fresh is None else fresh
                dict.__setitem__(state, STEP, fresh)

    def part(self, active: Iterable[torch.Tensor]) -> bool:
        """Splits classes of which only some parameters are active: those get a clone, made on the device. Whether any was."""
        sizes: Dict[int, int] = defaultdict(int)
        for state in self.states.values():
            if isinstance(state, dict) and state.get(STEP) is not None:
                sizes[id(state[STEP])] += 1
        classes: Dict[int, List[State]] = defaultdict(list)
        for parameter in active:
            state = self.states[parameter]
            classes[id(state[STEP])].append(state)
        has_split = False
        for members in classes.values():
            counter = members[0][STEP]
            if len(members) < sizes[id(counter)]:
                has_split = True
                clone = counter.clone()
                for state in members:
                    dict.__setitem__(state, STEP, clone)
        return has_split
