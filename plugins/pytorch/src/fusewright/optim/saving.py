"""State dicts with torch.optim's names and shapes, loaded with their own dtypes; copies and pickles of optimizers."""
from __future__ import annotations

import copy
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

import torch

from ..distributed import local_tensor as local
from ..warning import warn
from .layouts import laid_out_like, wrapped_like
from .metadata import ADDED, DTYPES, OpInfo, of_source
from .settings import Settings
from .states import STEP, State, States

StateDict = Dict[str, Any]


def count_of(value: Any, name: str = STEP) -> float:
    """A counter as any version of torch and Apex saves it: a number, or a tensor of one element."""
    if not isinstance(value, torch.Tensor):
        return float(value)
    if value.numel() != 1:
        raise ValueError(f"{name}: expected one number, got a tensor of shape {tuple(value.shape)}; load another state")
    return float(value)


def saved_state(state: Mapping[str, Any], count: Optional[float], group: Mapping[str, Any], device: torch.device,
                first: str) -> Dict[str, Any]:
    """One parameter's entry of state_dict(): a counter of its own, where torch has it."""
    saved = dict(state)
    if count is not None:
        home = device if group.get("capturable") or group.get("fused") else torch.device("cpu")
        saved[STEP] = torch.tensor(count, dtype=torch.float32, device=home)
        if first and count == 0:
            saved[first] = None
    return saved


def loaded_tensor(name: str, value: torch.Tensor, parameter: torch.Tensor, device: torch.device,
                  dtype: Optional[torch.dtype]) -> torch.Tensor:
    """A state with its own dtype, or the one asked for, in the layout of the parameter; never the saved memory itself."""
    shard, saved = local(parameter), local(value)
    if saved.shape != shard.shape:
        raise ValueError(f"{name}: expected shape {tuple(shard.shape)} as the parameter, got {tuple(saved.shape)}; "
                         "load the state of the same model")
    made = laid_out_like(shard, dtype or saved.dtype, device)
    return wrapped_like(parameter, made.copy_(saved))


class Saving(torch.optim.Optimizer):
    """The part of Optimizer that saves and loads."""

    if TYPE_CHECKING:  # the rest of it

        def _forget(self) -> None: ...
        def _reset(self) -> None: ...
        def _adopt(self, state: Mapping[Any, Any]) -> None: ...

    _info: OpInfo
    _settings: Settings
    _incoming: Optional[List[StateDict]] = None

    # -- state dicts

    def state_dict(self) -> StateDict:
        """As torch.optim's. "step" is a 0-d float32 tensor of each parameter: on the CPU, or on the parameter's device where
        the group says capturable or fused, as torch has it. Waits for the device."""
        result = super().state_dict()
        packed = result.get("state")
        if not isinstance(packed, dict):
            return result  # a hook of the user's gives it another form
        homes = {index: (parameter, group) for parameter, index, group in self._indices()}
        counts: Dict[int, float] = {}
        saved = {}
        for index, state in packed.items():
            if not isinstance(state, dict) or index not in homes:
                saved[index] = state
                continue
            counter, (parameter, group) = state.get(STEP), homes[index]
            if counter is not None and id(counter) not in counts:
                counts[id(counter)] = count_of(counter)
            saved[index] = saved_state(state, counts.get(id(counter)), group, local(parameter).device, self._info.names.first)
        result["state"] = saved
        return result

    def _indices(self):
        """(parameter, its number in state dicts, its group), as torch counts them."""
        numbers: Dict[int, int] = {}
        start = 0
        for group in self.param_groups:
            for place, parameter in enumerate(group["params"], start):
                yield parameter, numbers.setdefault(id(parameter), place), group
            start += len(group["params"])

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Takes what torch.optim or this class saved. Every state keeps its dtype (or gets `state_dtype`, where the
        constructor was given one) and is copied. What is missing is as in a new optimizer; master weights come from the
        parameters then, with a warning."""
        final: List[StateDict] = []

        def last(_: Any, given: StateDict) -> StateDict:
            final.append(given)
            self._check_saved(given)
            return {**given, "state": {}}  # torch's own road casts to the parameters' dtypes

        hook = self.register_load_state_dict_pre_hook(last)
        self._incoming = final
        try:
            super().load_state_dict(state_dict)
        finally:
            hook.remove()
            self._incoming = None

    def _pairs(self, saved: StateDict):
        """(parameter, its saved state, its saved group)."""
        for group, given in zip(self.param_groups, saved["param_groups"]):
            for parameter, index in zip(group["params"], given["params"]):
                state = saved["state"].get(index)
                yield parameter, state if isinstance(state, dict) else {}, given

    def _check_saved(self, saved: StateDict) -> None:
        """ValueError before anything is changed."""
        for group in saved["param_groups"]:
            if group.get("bias_correction") is False:
                raise ValueError("bias_correction: expected True, got False in the loaded state; no op here has it")
        for parameter, state, _ in self._pairs(saved):
            shape = local(parameter).shape
            for name, value in state.items():
                if name == STEP:
                    count_of(value)
                elif self._is_element_state(name) and isinstance(value, torch.Tensor) and local(value).shape != shape:
                    raise ValueError(f"{name}: expected shape {tuple(shape)} as the parameter, got {tuple(local(value).shape)}; "
                                     "load the state of the same model")

    def _is_element_state(self, name: str) -> bool:
        return name in self._info.element_states

    def _take(self, saved: StateDict) -> None:
        """States from a saved dict, behind torch's work on the groups."""
        states = States(self._forget, {})
        counters: Dict[Tuple[torch.device, float], torch.Tensor] = {}
        pairs = list(self._pairs(saved))
        is_foreign = self._note_foreign([given for _, given, _ in pairs])
        for parameter, given, group in pairs:
            if not given or is_foreign:
                continue
            device = self._settings.device_of(local(parameter))
            state = State(self._forget, {name: self._loaded(name, value, parameter, device) for name, value in given.items()
                                         if name != STEP and value is not None and self._is_current(name, value)})
            count = self._count_of(given, group)
            if count is not None:
                key = device, count
                if key not in counters:
                    counters[key] = torch.tensor(count, dtype=torch.float32, device=device)
                dict.__setitem__(state, STEP, counters[key])
            states[parameter] = state
        known = {index for group in saved["param_groups"] for index in group["params"]}
        for index, value in saved["state"].items():
            if index not in known:
                states[index] = value
        self._note_missing([given for _, given, _ in pairs if given])
        self._adopt(states)

    def _is_current(self, name: str, value: Any) -> bool:
        """Whether the features of this optimizer keep up what another one saved; a stale one is left out."""
        if name == ADDED["copy"]:
            return isinstance(value, torch.Tensor) and value.dtype == self._settings.low_precision_copy
        return {ADDED["master"]: self._settings.master_weights,
                ADDED["ema"]: self._settings.ema_decay is not None}.get(name, True)

    def _loaded(self, name: str, value: Any, parameter: torch.Tensor, device: torch.device) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if not self._is_element_state(name) or value.dtype not in DTYPES:
            return value.detach().clone().to(device)
        return loaded_tensor(name, value, parameter, device, None if name in ADDED.values() else self._settings.state_dtype)

    def _count_of(self, given: Mapping[str, Any], group: Mapping[str, Any]) -> Optional[float]:
        """The saved counter; Apex has it in the group, and torch's SGD has none beside a buffer that was filled."""
        if given.get(STEP) is not None:
            return count_of(given[STEP])
        if group.get(STEP) is not None:
            return count_of(group[STEP])
        first = self._info.names.first
        return 1.0 if first and given.get(first) is not None else None

    def _note_missing(self, given: List[Mapping[str, Any]]) -> None:
        if self._settings.master_weights and given and not any(ADDED["master"] in state for state in given):
            warn("master_param: expected master weights in the loaded state, got none; they are made from the "
                 "parameters at the next step")

    def _note_foreign(self, given: List[Mapping[str, Any]]) -> bool:
        """Whether the states are all of another optimizer's; a warning tells."""
        names = self._info.own_states
        found = sorted({name for state in given for name in state if name != STEP})
        is_foreign = bool(names and found) and not any(name in names or name in ADDED.values() for name in found)
        if is_foreign:
            warn(f"expected states among {', '.join(sorted(names))}, got {', '.join(found)} in the loaded state; it is of another "
                 "optimizer: all states of this one begin anew")
        return is_foreign

    # -- copies and pickles: plans are left behind

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Saving":
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__setstate__(copy.deepcopy(Saving.__getstate__(self), memo))
        twin._use_group(self._settings.process_group)
        return twin

    def _use_group(self, process_group: Any) -> None:
        self._settings.process_group = self._process_group = process_group

    def __getstate__(self) -> Dict[str, Any]:
        settings = replace(self._settings, process_group=None)  # a live connection: a pickle is of one process
        return {**torch.optim.Optimizer.__getstate__(self), "_settings": settings, "_source": self._info.source}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        state = dict(state)
        if "_source" in state:  # a copy; load_state_dict() comes without
            self._info = of_source(state.pop("_source"))
            self._arena = self._world = self._process_group = None
            self.__dict__.update(_compiled_numbers=[], _captured={}, _claimants=weakref.WeakSet())
        states = state.pop("state")
        super().__setstate__(state)
        self._forget()
        self._reset()
        for group in self.param_groups:
            for key, value in self.defaults.items():
                group.setdefault(key, value)
            group.pop(STEP, None)  # Apex's
        if self._incoming:
            self._take(self._incoming[0])
        else:
            self.state = states
