"""Ops as the optimizers see them: operands, numbers and their ranges, programs; all of it read off the op."""
from __future__ import annotations

import itertools
import numbers
import re
from functools import lru_cache
from operator import itemgetter
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import torch

from ..context import context
from .names import SHIPPED, Group, Names, flag

DTYPES: Dict[torch.dtype, str] = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16",
                                  torch.bfloat16: "bf16", torch.float8_e4m3fn: "e4m3fn", torch.float8_e5m2: "e5m2"}

Options = Tuple[Tuple[str, str], ...]
ADDED = {"master": "master_param", "copy": "low_precision_copy", "ema": "ema"}  # by features, to the param
MOST_CHOICES = 256  # combinations of options that are looked at


class Kind(NamedTuple):
    """What decides the program of a parameter; dtypes are (operand, its dtype)."""

    options: Options
    features: Tuple[str, ...]
    dtypes: Tuple[Tuple[str, str], ...]
    target: str


class Program(NamedTuple):
    program: Any  # a _C.Program
    operands: Tuple[Mapping[str, Any], ...]
    scalars: frozenset
    step: Optional[str]  # name of the scalar that counts applied steps


class Range(NamedTuple):
    """A hyper's range as the op file writes it: ">= 0", "in [0, 1)"; "": any number."""

    text: str

    def holds(self, value: float) -> bool:
        if not self.text:
            return True
        bounds = re.fullmatch(r"in ([\[(])\s*(\S+),\s*(\S+?)\s*([\])])", self.text)
        if bounds:
            opening, low, high, closing = bounds.groups()
            return ((value >= float(low) if opening == "[" else value > float(low))
                    and (value <= float(high) if closing == "]" else value < float(high)))
        relation, bound = self.text.split()
        limit = float(bound)
        return {">=": value >= limit, ">": value > limit, "<=": value <= limit, "<": value < limit}[relation]


def without_default(request: Any) -> List[str]:
    """Hypers that a run must be given. Request.scalars() has 0 for them as for a default of 0, so the op's own text tells."""
    header = next(line for line in request.text("semantic").splitlines() if "fuse.op @" in line)
    parts = header.split('#fuse.hyper<name = "')[1:]
    return [part.split('"')[0] for part in parts if "value = " not in part]


class OpInfo:
    """One op with its names. Programs are kept here, so optimizers of one op share them."""

    def __init__(self, op: Any, names: Names, source: Tuple[Optional[str], ...]) -> None:
        self.op, self.names, self.source = op, names, source
        self._programs: Dict[Kind, Program] = {}
        self._steps: Dict[Options, bool] = {}
        self._operands: Dict[Any, Tuple[Mapping[str, Any], ...]] = {}
        self.options: Dict[str, Tuple[str, ...]] = dict(op.options)
        self.choices = {name: names.options.get(name) or self._choice(name) for name in self.options}
        self.scalars = self._all_scalars()
        self.param, self.grad = self._check_roles()
        self.own_states = self._states("element", "tensor")
        self.element_states = self._states("element") | set(ADDED.values())
        self.defaults = self._group_defaults()
        keys = [key for key in self.defaults if key not in names.extra]
        self.fetch = itemgetter(*(keys if len(keys) > 1 else keys * 2)) if keys else lambda group: ()
        """A param group's values that the step depends on, as a tuple."""

    def _choice(self, name: str):
        return flag(name) if self.options[name] == ("false", "true") else lambda group: group[name]

    def _combinations(self):
        products = itertools.product(*self.options.values())
        return (tuple(zip(self.options, values)) for values in itertools.islice(products, MOST_CHOICES))

    def _all_scalars(self) -> Dict[str, Mapping[str, Any]]:
        """Hypers of every combination of options; the step is none."""
        found: Dict[str, Mapping[str, Any]] = {}
        for options in self._combinations():
            request = self._request(options, ())
            new = [scalar for scalar in request.scalars() if not scalar["is_step"] and scalar["name"] not in found]
            bare = without_default(request) if any(scalar["value"] == 0 for scalar in new) else ()
            found.update((scalar["name"], {**scalar, "value": None} if scalar["name"] in bare else scalar) for scalar in new)
        return found

    def _check_roles(self) -> Tuple[str, str]:
        roles: Dict[str, set] = {}
        for options in self._combinations():
            for operand in self.operands(options, ()):
                roles.setdefault(operand["role"], set()).add(operand["name"])
                shared = operand["scope"] == "all" and operand["role"] != "out"
                if operand["role"] == "in" or shared or (operand["role"] == "out" and operand["scope"] != "all"):
                    raise ValueError(
                        f"op {self.op.name}: expected operands that an optimizer can make (param, grad, states, outs "
                        f"with one value in all), got {operand['role']} {operand['name']} of scope {operand['scope']}; "
                        "make it a hyper or a state")
        for role in ("param", "grad"):
            if len(roles.get(role, ())) != 1:
                got = ", ".join(sorted(roles.get(role, ()))) or "none"
                raise ValueError(f"op {self.op.name}: expected one {role}, got {got}; an optimizer has one parameter "
                                 "and one gradient in each entry")
        return next(iter(roles["param"])), next(iter(roles["grad"]))

    def _states(self, *scopes: str) -> frozenset:
        """Names in `optimizer.state` of the op's own states, features apart."""
        return frozenset(self.state_name(operand["name"]) for options in self._combinations()
                         for operand in self.operands(options, ()) if operand["role"] in ("state", "out") and operand["scope"] in scopes)

    def _group_defaults(self) -> Group:
        holders = {name: key for key, members in self.names.tuples.items() for name in members}
        defaults: Group = {}
        for name, scalar in self.scalars.items():
            key = holders.get(name)
            if key is None:
                defaults[self.names.hypers.get(name, name)] = scalar["value"]
            else:
                defaults[key] = tuple(self.scalars[member]["value"] for member in self.names.tuples[key])
        for name, values in self.options.items():
            if name not in self.names.options:
                defaults[name] = False if values == ("false", "true") else values[0]
        return {**defaults, **self.names.keys, **self.names.extra}

    def _request(self, options: Options, features: Tuple[str, ...]) -> Any:
        request = self.op.request()
        for name, value in options:
            request.option(name, value)
        for feature in features:
            request.feature(feature)
        for operand in request.operands():
            if operand["optional"]:
                request.absent(operand["name"])
        return request

    def operands(self, options: Options, features: Tuple[str, ...]) -> Tuple[Mapping[str, Any], ...]:
        """Operands in the order of a plan's tensors; dtypes are those of a request that binds none."""
        key = options, features
        if key not in self._operands:
            self._operands[key] = tuple(self._request(options, features).operands())
        return self._operands[key]

    def has_step(self, options: Options) -> bool:
        """Whether the op counts applied steps."""
        if options not in self._steps:
            self._steps[options] = any(scalar["is_step"] for scalar in self._request(options, ()).scalars())
        return self._steps[options]

    def state_name(self, operand: str) -> str:
        """Name in `optimizer.state` of a state of the op, or of what a feature adds."""
        param, _, suffix = operand.rpartition(".")
        return ADDED[suffix] if param == self.param else self.names.states.get(operand, operand)

    def chosen(self, group: Group) -> Options:
        """Options of a param group."""
        return tuple((name, str(choice(group))) for name, choice in self.choices.items())

    def program(self, kind: Kind) -> Program:
        if kind not in self._programs:
            request = self._request(kind.options, kind.features)
            for operand, dtype in kind.dtypes:
                request.dtype(operand, dtype)
            request.target(kind.target)
            scalars = request.scalars()
            step = next((scalar["name"] for scalar in scalars if scalar["is_step"]), None)
            self._programs[kind] = Program(request.compile(), tuple(request.operands()),
                                           frozenset(scalar["name"] for scalar in scalars), step)
        return self._programs[kind]

    def hypers(self, group: Group) -> List[Tuple[str, str, Any]]:
        """(hyper, what the user calls it, its value) of a param group."""
        found = []
        for key, members in self.names.tuples.items():
            values = group[key]
            if not isinstance(values, (tuple, list)) or len(values) != len(members):
                raise ValueError(f"{key}: expected {len(members)} numbers, got {values!r}; pass a tuple")
            found += [(name, f"{key}[{i}]", value) for i, (name, value) in enumerate(zip(members, values))]
        held = {name for name, _, _ in found}
        renamed = ((name, self.names.hypers.get(name, name)) for name in self.scalars if name not in held)
        return found + [(name, key, group[key]) for name, key in renamed]

    def flags(self) -> List[str]:
        """Arguments of a shipped op that are True or False."""
        return [key for key, value in self.names.keys.items() if isinstance(value, bool)]

    def _remedy(self, shown: str, value: Any) -> str:
        """What to do about a hyper that is no number."""
        default = next(default for _, other, default in self.hypers(self.defaults) if other == shown)
        if value is not None:
            return "pass a number, for example float(...)"
        return f"op {self.op.name} has no default for it" if default is None else f"leave it out for the default {default:g}"

    def check(self, group: Group) -> None:
        """ValueError for a number outside its range or an option that the op has not."""
        for name, key, value in self.hypers(group):
            if isinstance(value, torch.Tensor) and value.numel() != 1:
                raise ValueError(f"{key}: expected a tensor of one element, got shape {tuple(value.shape)}; a param group has one value")
            if not isinstance(value, (torch.Tensor, numbers.Real)):
                raise ValueError(f"{key}: expected a number or a tensor, got {value!r}; {self._remedy(key, value)}")
            if not isinstance(value, torch.Tensor) and not Range(self.scalars[name]["range"]).holds(value):
                raise ValueError(f"{key}: expected a number {self.scalars[name]['range']}, got {value!r}; "
                                 f"op {self.op.name} sets the range")
        for name, value in self.chosen(group):
            if value not in self.options[name]:
                raise ValueError(f"{name}: expected one of {', '.join(self.options[name])}, got {value!r}; "
                                 f"op {self.op.name} sets the options")


@lru_cache(maxsize=None)
def shipped(op: str) -> OpInfo:
    return OpInfo(context().op(op), SHIPPED.get(op, Names()), ("shipped", op))


def parsed(text: str, file: Optional[str], op: Optional[str]) -> OpInfo:
    """An op of the user's; its names are its own."""
    return OpInfo(context().parse(text, file, op), Names(), ("parsed", text, file, op))


def of_source(source: Tuple[Any, ...]) -> OpInfo:
    """The op that OpInfo.source stands for."""
    return shipped(source[1]) if source[0] == "shipped" else parsed(*source[1:])


def is_narrow(dtype: torch.dtype) -> bool:
    """Whether small updates of parameters in this dtype vanish."""
    return dtype.itemsize < 4
