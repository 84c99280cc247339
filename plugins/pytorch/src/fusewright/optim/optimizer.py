"""The optimizer: one class for every op, with torch.optim's interface."""
from __future__ import annotations

import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import torch
import torch.autograd.profiler as profiler
import torch.optim.optimizer as torch_optimizer

from ..arena import GradientArena
from ..compiling import is_compiling, is_near_compiler, uncompiled
from ..warning import warn
from . import compiled
from .lanes import Lane, lanes_of, refuse_lanes, world_of
from .metadata import ADDED, DTYPES, OpInfo, is_narrow
from .saving import Saving
from .settings import Settings
from .staging import to_device
from .states import Counters, States
from .tables import Table

_warned: List[str] = []


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.append(text)
        warn(text)


class Optimizer(Saving):
    """An optimizer by the equations of an op. AdamW, Adam, SGD, Lion and what from_file() gives are instances.

    A step is one plan: one kernel launch for each set of dtypes (two with max_norm or guard), whatever the number of
    parameters, without waiting for the device. It can be captured in a CUDA graph after one step outside.

    params: as torch.optim takes them. info: the op. values: defaults of param groups, by name. Beside them the arguments
    of Settings.
    """

    _step_supports_amp_scaling = True  # torch.amp.GradScaler then leaves grad_scale and found_inf to the step
    _scaling: Optional[Dict[str, Any]] = None  # during a step of a scaler of ours

    def __init__(self, params: Any, info: OpInfo, **values: Any) -> None:
        self._info = info
        self._settings = Settings(**{name: values.pop(name) for name in Settings.names() if name in values})
        unknown = [name for name in values if name not in info.defaults]
        if unknown:
            raise TypeError(f"expected arguments among {', '.join([*info.defaults, *Settings.names()])}, got {unknown[0]}; "
                            f"op {info.op.name} has no other numbers and options")
        self._arena: Any = None
        self._world: Any = None
        self._process_group = self._settings.process_group
        self._captured: Dict[int, Table] = {}
        self._compiled_numbers: List[int] = []
        self._claimants: "weakref.WeakSet[Any]" = weakref.WeakSet()  # of scalers of ours that wait for their update
        self._reset()
        super().__init__(params, {**info.defaults, **values})

    def _reset(self) -> None:
        """What is made anew after a load, a copy, or a change of parameters."""
        self._lanes: Optional[List[Lane]] = None
        self._lists: List[List[torch.Tensor]] = []
        self._singles: List[Tuple[int, int, torch.Tensor]] = []
        self._ran: List[Table] = []  # by the last step, which they tell of
        self._arena_seen: Any = None  # by the last step
        self._plans_made = self._copied = 0

    # -- states

    @property
    def state(self) -> States:  # type: ignore[override]
        """As torch.optim's: parameter -> dict of its states. Who has read this once may exchange the memory of a state
        (`.data = ...`), so all later steps look at where states are."""
        self._are_states_out = True
        return self._states

    @state.setter
    def state(self, states: Mapping[Any, Any]) -> None:
        self._adopt(states)
        self._are_states_out = bool(states)
        self._forget()

    def _adopt(self, states: Mapping[Any, Any]) -> None:
        self._states = States(self._forget, dict(states))
        self._counters = Counters(self._states)
        self._are_states_out = False

    def _forget(self) -> None:
        """Plans do not fit any more: states, parameters or groups have changed."""
        self._lanes = None
        self._forget_compiled()

    def _forget_compiled(self) -> None:
        if self._compiled_numbers:
            compiled.forget(self)

    # -- groups

    def add_param_group(self, param_group: Dict[str, Any]) -> None:
        merged = {**self.defaults, **param_group}
        if merged.get("differentiable"):
            raise ValueError("differentiable: expected False, got True; a fused step has no derivative, use torch.optim")
        self._info.check(merged)
        super().add_param_group(param_group)
        self._forget()
        for parameter in self.param_groups[-1]["params"]:
            if parameter.dtype not in DTYPES:
                self.param_groups.pop()
                raise ValueError(f"expected parameters in {', '.join(map(str, DTYPES))}, got {parameter.dtype}; complex and "
                                 "integer parameters need an optimizer of torch's")
            if is_narrow(parameter.dtype) and not self._settings.master_weights:
                _warn_once(f"{type(self).__name__}: parameters in {parameter.dtype} lose updates that are small beside them; "
                           "master_weights=True keeps them in float32")

    def _lanes_now(self) -> List[Lane]:
        lanes = lanes_of(self)
        self._world = world_of(self)
        self._lists = [list(group["params"]) for group in self.param_groups]
        self._singles = [(number, place, parameter) for number, parameters in enumerate(self._lists)
                         for place, parameter in enumerate(parameters) if parameter.numel() == 1]
        if self._arena is not None:
            self._enter_arena()
        self._lanes = lanes
        return lanes

    def _fitting_lanes(self, is_scaled: bool) -> List[Lane]:
        """The lanes of what parameters, states and options are now; changed hypers are handed over."""
        lanes = self._lanes
        if lanes is None or self._has_other_parameters() or not all([lane.has_options(is_scaled) for lane in lanes]):
            lanes = self._lanes_now()
        return lanes

    def _has_other_parameters(self) -> bool:
        """Whether somebody changed lists of parameters behind our back."""
        groups, lists = self.param_groups, self._lists
        if len(groups) != len(lists):
            return True
        try:
            for group, known in zip(groups, lists):
                if group["params"] != known:  # identity decides; what == gives for another tensor is no bool
                    return True
        except RuntimeError:
            return True
        for number, place, parameter in self._singles:  # but for one element it is
            if groups[number]["params"][place] is not parameter:
                return True
        return False

    # -- the step

    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """Performs one step. closure: computes the loss anew, with gradients on; its value is returned."""
        if is_compiling():
            return compiled.compiled_step(self, closure)
        if is_near_compiler():
            return uncompiled(self.step, closure)
        if closure is not None or self._is_listened_to():
            return self._step_aloud(closure)
        self._advance(self._scaling_now())
        return None

    # torch's wrapper costs more than the step: hooks and profiler are served by _step_aloud.
    step.hooked = True  # type: ignore[attr-defined]

    def _is_listened_to(self) -> bool:
        return bool(self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks
                    or torch_optimizer._global_optimizer_pre_hooks or torch_optimizer._global_optimizer_post_hooks
                    or profiler._is_profiler_enabled)

    def _step_aloud(self, closure: Optional[Callable[[], Any]]) -> Any:
        """The step within torch's own wrapper: hooks before and behind it, a range in the profile."""
        return _aloud(self, closure) if closure is not None else _aloud(self)

    def _step_plainly(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._advance(self._scaling_now())
        return loss

    def _scaling_now(self) -> Optional[Dict[str, Any]]:
        """What a loss scaler has set for this step. Of torch.amp.GradScaler: grad_scale is None where unscale_() was called."""
        if "found_inf" not in self.__dict__:
            return self._scaling
        if self._claimants:
            self._refuse_torchs_scaler("while fusewright.amp.GradScaler is between its unscale_() or step() and its update()")
        scale = getattr(self, "grad_scale", None)
        return {"all.scale": 1.0 if scale is None else scale, "all.skip": self.found_inf}

    def _refuse_torchs_scaler(self, when: str) -> None:
        for name in ("found_inf", "grad_scale"):  # torch leaves them where a step fails
            self.__dict__.pop(name, None)
        raise RuntimeError(f"expected one scaler for an optimizer, got torch.amp.GradScaler {when}; use one of them")

    def _advance(self, scaling: Optional[Dict[str, Any]]) -> None:
        is_scaled = scaling is not None
        lanes = self._fitting_lanes(is_scaled)
        trusts_gradients, seen = False, None
        if self._arena is not None:
            # Others may have checked it in between, and the other kind of step has tables of its own.
            self._arena.check()
            seen = self._arena.changes, is_scaled
            trusts_gradients, self._arena_seen = seen == self._arena_seen, None
        if len(lanes) > 1 and scaling is not None and scaling["all.skip"] is None:
            refuse_lanes(lanes)  # the scaler left the decision to the step, and each would decide by itself
        self._ran = []
        if len(lanes) == 1:
            self._ran.append(lanes[0].step(_on(lanes[0].device, scaling), self._world, trusts_gradients))
        else:
            for lane in lanes:
                lane.prepare(is_scaled)  # what is refused is refused before the first has stepped
            for lane in lanes:
                self._ran.append(lane.step(_on(lane.device, scaling), self._world, trusts_gradients))
        self._arena_seen = seen if self._lanes is lanes else None
        if self._settings.zero_gradients and (is_scaled or self._settings.guard):
            self._zero_gradients()

    @torch.no_grad()
    def _zero_gradients(self) -> None:
        """Behind a step that may have been skipped: what was not finite would stay, and all later steps be skipped."""
        if self._arena is not None:
            self._arena.zero_()
            return
        gradients = [parameter.grad for group in self.param_groups for parameter in group["params"] if parameter.grad is not None]
        if gradients:
            torch._foreach_zero_(gradients)

    def _step_scaled(self, scale: Any, skip: Optional[torch.Tensor] = None, *arguments: Any,
                     **named: Any) -> Tuple[Any, List[Table]]:
        """The step with gradients of scale * loss, for fusewright.amp. scale: a tensor, or Scaler.scalar(); None: they are
        unscaled already. skip: not 0: nothing is to be done. arguments, named: of step(). What step() returned, and the tables
        that ran, whose `skipped` says what became of it; none where a step() of a subclass made none."""
        if "found_inf" in self.__dict__:
            self._refuse_torchs_scaler("in a step of fusewright.amp.GradScaler (or what it has left behind a step that failed)")
        self._scaling = {"all.scale": 1.0 if scale is None else scale, "all.skip": skip}
        self._ran = []
        try:
            result = self.step(*arguments, **named)
        finally:
            self._scaling = None
        return result, self._ran

    def _prepare_compiled(self) -> int:
        return compiled.prepare(self)

    # torch._dynamo.assume_constant_result, without importing Dynamo
    _prepare_compiled._dynamo_marked_constant = True  # type: ignore[attr-defined]

    # -- what a step tells

    @property
    def applied(self) -> torch.Tensor:
        """1.0 where the last step was applied, 0.0 where it was skipped: a 0-d tensor on the device, read without waiting.
        1.0 for steps that neither a scaler nor guard=True may skip."""
        applied = [(skipped == 0).to(torch.float32) for table in self._ran for skipped in table.skipped]
        if not applied:
            return torch.ones((), device=self._lanes[0].device if self._lanes else "cpu")
        return applied[0] if len(applied) == 1 else torch.stack([one.cpu() for one in applied]).min()

    @property
    def norm(self) -> torch.Tensor:
        """The norm of all gradients in the last step, before they were clipped: a 0-d float32 tensor on the device. The
        next step overwrites it."""
        norm = self._ran[-1].norm if self._ran else None
        if norm is None:
            raise RuntimeError("norm: expected a step with max_norm, got none; pass max_norm to the constructor and step once")
        return norm

    @property
    def max_norm(self) -> Any:
        return self._settings.max_norm

    @max_norm.setter
    def max_norm(self, value: Any) -> None:
        if (value is None) != (self._settings.max_norm is None):
            self._forget()
        self._settings.max_norm = value
        for table in (*self._tables(), *compiled.tables_of(self)):
            table.forget_numbers()

    def _tables(self) -> List[Table]:
        return [table for lane in self._lanes or () for table in lane.tables.values()]

    def refresh_masters(self) -> None:
        """Makes master weights of what the parameters are now: behind a load of the model's weights."""
        for state in self._states.values():
            if isinstance(state, dict):
                state.pop(ADDED["master"], None)

    def statistics(self) -> Dict[str, Any]:
        """plans_made; plans_kept; gradients_copied in all steps (the slow road of odd layouts); `plans`: what they say."""
        tables = self._tables()
        return {"plans_made": self._plans_made, "plans_kept": len(tables), "gradients_copied": self._copied,
                "plans": [table.plan.info() for table in tables]}

    # -- gradients

    def use_arena(self, arena: Optional[GradientArena] = None) -> GradientArena:
        """Gradients live in `arena`, or in a new one: while they stay there a step does not look for them
        (docs/guide/pytorch.md, "What a step costs"). Autograd is then not told that parameters have changed in place.
        Whoever replaces a gradient (`p.grad = x`) between backward() and step() must call `arena.check(full=True)`: the
        number of accumulations, which the arena goes by, is the same then. Optimizers that share an arena set all of it to
        0 by any one's zero_grad()."""
        self._arena = GradientArena(self) if arena is None else arena
        self._forget()
        return self._arena

    def leave_arena(self) -> None:
        """The end of use_arena(); the gradients stay where they are."""
        self._arena = None
        self._forget()

    def _enter_arena(self) -> None:
        known = {id(parameter) for parameter in self._arena.parameters}
        self._arena.add(parameter for parameters in self._lists for parameter in parameters if id(parameter) not in known)
        self._arena_seen = None

    def zero_grad(self, set_to_none: bool = True) -> None:
        """As torch.optim's; gradients in an arena are set to 0 and stay."""
        if self._arena is not None:
            self._arena.zero_()
        else:
            super().zero_grad(set_to_none)


def _on(device: torch.device, scaling: Optional[Dict[str, Any]]) -> Optional[Dict[str, Any]]:
    """The numbers of a scaled step where the lane's are."""
    if scaling is None:
        return None
    return {name: to_device(value, device) if isinstance(value, torch.Tensor) else 0.0 if value is None else value
            for name, value in scaling.items()}


_aloud = torch.optim.Optimizer.profile_hook_step(Optimizer._step_plainly)
