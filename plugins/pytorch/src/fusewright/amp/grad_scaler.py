"""The loss scaler with PyTorch's interface whose state never leaves the device."""
from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Dict, Mapping, Optional, Tuple, Union

import torch

from ..compiling import is_near_compiler, uncompiled
from .core import TORCH_SETTINGS, CoreScaler, Settings
from .report import History, ScalerState
from .roads import Record, Roads, Stage
from .torch_names import TorchNames

__all__ = ["GradScaler"]


class GradScaler(TorchNames):
    """Scales losses so that small gradients survive 16 bits; `torch.amp.GradScaler`'s interface.

    The scale, the count until it grows and the decision to skip live on the device. With optimizers of
    `fusewright.optim` the step itself divides the gradients, looks at them and skips, so that `step()` and
    `update()` cost microseconds, wait for nothing and may be captured in a CUDA graph. Other optimizers are
    looked at by one pass; those that know the protocol of fused optimizers (`torch.optim.AdamW(fused=True)`)
    skip on the device, for all others the host reads the decision, as with PyTorch's scaler.

    Args:
        device: "cuda" or "cpu".
        init_scale: first scale, rounded to float32.
        growth_factor: > 1; multiplies the scale behind `growth_interval` applied steps in a row.
        backoff_factor: in (0, 1); multiplies the scale where a step was skipped.
        growth_interval: at least 1; more than 2^24 counts as 2^24.
        enabled: False makes every call PyTorch's of a disabled scaler.
        hysteresis: the scale is lowered at this skip, not before.
        refill: when the hysteresis is whole again: "clean", at each applied step (Apex), or "growth", when the
            scale grows (Megatron).
        min_scale: floor; None is 2^-16, or `init_scale` if that is less. 0: none, as in PyTorch.
        max_scale: ceiling; None is the largest finite float32.
        mode: "dynamic", or "static": the scale stays, skips are counted.
        process_group: of optimizers that have none of their own, and whose parameters are plain tensors but parts
            of larger ones: a bad gradient of one rank is that of all. DTensors know their ranks.

    Three things differ from PyTorch's scaler by intent. The scale has a floor unless `min_scale` is 0. A growth
    that float32 cannot hold is refused. A step looks at the gradients again behind `unscale_()`: it skips where
    one was not finite then, or is not now. `unscale_()` refuses float16 gradients as PyTorch does; `step()` of
    an optimizer of this package takes them.
    """

    def __init__(
        self,
        device: Union[str, torch.device] = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
        *,
        hysteresis: int = 1,
        refill: str = "clean",
        min_scale: Optional[float] = None,
        max_scale: Optional[float] = None,
        mode: str = "dynamic",
        process_group: Any = None,
    ) -> None:
        self._device = str(device)
        self._enabled = enabled
        if enabled and torch.device(self._device).type == "cuda" and not torch.cuda.is_available():
            warnings.warn('expected a CUDA device, got none: the loss scaler is disabled; say device="cpu"', stacklevel=2)
            self._enabled = False
        if self._enabled:
            settings = Settings(
                init_scale, growth_factor, backoff_factor, growth_interval, hysteresis, refill, min_scale, max_scale, mode
            )
            self._begin(CoreScaler(settings), process_group)

    def _begin(self, core: CoreScaler, process_group: Any) -> None:
        self._core = core
        self._roads = Roads(core, process_group)
        self._records: Dict[int, Record] = {}
        self._history = History()

    # ---- scale, unscale_, step, update ------------------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """Tensors, or tuples, lists and iterables of them, multiplied by the scale.

        Raises:
            ValueError: something else is among them.
        """
        if is_near_compiler():
            return uncompiled(self.scale, outputs)
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            return outputs * self._core.scale_on(outputs.device)
        if isinstance(outputs, Iterable) and not isinstance(outputs, (str, bytes)):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled  # type: ignore[call-arg]
        raise ValueError(f"expected a tensor or an iterable of tensors, got {type(outputs).__name__}; scale the losses alone")

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divides the optimizer's gradients by the scale, and looks whether one is not finite.

        For what has to see true gradients before the step. At most once between two updates, behind the last
        backward. Waits for nothing.

        Raises:
            RuntimeError: it was called already, or step() was.
            ValueError: a gradient is float16; small ones would vanish.
        """
        if is_near_compiler():
            return uncompiled(self.unscale_, optimizer)
        if not self._enabled:
            return
        self._require_scaled("unscale_()")
        record = self._record(optimizer)
        if record.stage is Stage.UNSCALED:
            raise RuntimeError(
                "expected one unscale_() of an optimizer between updates, got a second one; "
                "its gradients are divided already: call step(), then update()"
            )
        if record.stage is Stage.STEPPED:
            raise RuntimeError("expected unscale_() before step(), got it behind step(); call update() first")
        record.check_claims()
        record.found = self._roads.look("unscale", optimizer)
        record.stage = Stage.UNSCALED
        record.claim()

    def step(self, optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Steps the optimizer with gradients divided by the scale, unless one is not finite.

        Gradients are not divided again where unscale_() has done it. A step that is skipped changes nothing.
        Returns what `optimizer.step(*args, **kwargs)` does; None where that was not called.

        Raises:
            RuntimeError: a second step before update(), or a closure.
            AssertionError: no loss was scaled, or there is no gradient.
        """
        if is_near_compiler():
            return uncompiled(self.step, optimizer, *args, **kwargs)
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if kwargs.get("closure") is not None or any(map(callable, args)):
            raise RuntimeError("expected a step without closure, got one; step without it, or disable the scaler")
        self._require_scaled("step()")
        record = self._record(optimizer)
        if record.stage is Stage.STEPPED:
            raise RuntimeError("expected one step() of an optimizer between updates, got two; call update() first")
        result = self._roads.step(self, record, args, kwargs)
        record.stage = Stage.STEPPED
        return result

    def update(self, new_scale: Union[float, torch.Tensor, None] = None) -> None:
        """Moves the scale by what became of all steps since the last update; or sets it.

        Args:
            new_scale: a number, or a tensor of one element on the scaler's kind of device, which is read there.

        Raises:
            AssertionError: no optimizer was stepped or unscaled, or `new_scale` is no such tensor.
        """
        if is_near_compiler():
            return uncompiled(self.update, new_scale)
        if not self._enabled:
            return
        self._require_scaled("update()")
        if new_scale is None:
            reports = [(r.optimizer, report) for r in self._records.values() for report in (*r.found, *r.made)]
            if not reports:
                raise AssertionError("expected step() or unscale_() before update(), got neither; step first")
            self._core.update([report.skipped for _, report in reports])
            self._history.add(reports)
        else:
            self._core.set_scale(new_scale, torch.device(self._device).type)
        self._core.moved()
        for record in self._records.values():
            record.leave()
        self._records.clear()

    # ---- What the host sees -----------------------------------------------------------------------

    def state(self, wait: bool = False) -> ScalerState:
        """What the host knows: the last state that has arrived from the device.

        Args:
            wait: for the work that is queued on the current stream, first.

        On the CPU that is the state. On a GPU each update sends its state, so without `wait` this may be some steps
        old, and costs nothing.
        """
        if not self._enabled or not self._core.is_made():
            scale = self.get_scale()
            return ScalerState("applied", None, None, 0, 0, 0, 0, 0, scale, scale)
        seen = self._core.read(wait)
        updates, tensor = int(seen["updates"]), int(seen["tensor"])
        is_bad = tensor >= 0
        return ScalerState(
            seen["outcome"],
            tensor if is_bad else None,
            self._history.name(updates, int(seen["report"]), tensor) if is_bad else None,
            updates,
            int(seen["skips"]),
            int(seen["skips_in_a_row"]),
            int(seen["growth_count"]),
            int(seen["hysteresis_left"]),
            float(seen["scale"]),
            float(seen["previous_scale"]),
        )

    def name_parameters(self, named: "Iterable[Tuple[str, torch.Tensor]]") -> None:
        """Names by which state() calls parameters: `scaler.name_parameters(model.named_parameters())`.

        Not needed where an optimizer was made of named parameters (torch 2.6).
        """
        if self._enabled:
            self._history.call(named)

    def get_scale(self) -> float:
        """The scale; waits for the device. 1.0 of a disabled scaler."""
        return self._core.get_scale() if self._enabled else 1.0

    # ---- Settings ---------------------------------------------------------------------------------

    def get_growth_factor(self) -> float:
        return self._core.settings.growth_factor

    def get_backoff_factor(self) -> float:
        return self._core.settings.backoff_factor

    def get_growth_interval(self) -> int:
        return self._core.settings.growth_interval

    def set_growth_factor(self, new_factor: float) -> None:
        """Changing a setting waits for the device; graphs that hold this scaler must be captured again."""
        self._set({"growth_factor": new_factor})

    def set_backoff_factor(self, new_factor: float) -> None:
        self._set({"backoff_factor": new_factor})

    def set_growth_interval(self, new_interval: int) -> None:
        self._set({"growth_interval": new_interval})

    def _set(self, values: Mapping[str, Any]) -> None:
        if self._core.change(self._core.settings.with_torch(values)):
            self._roads.checks.clear()  # they hold the scale's address

    # ---- Checkpoints ------------------------------------------------------------------------------

    def state_dict(self) -> Dict[str, Any]:
        """The five entries of torch.amp.GradScaler, which loads the dict, and "fusewright" with all numbers of the
        core's scaler. Empty where disabled. Waits for the device."""
        if not self._enabled:
            return {}
        numbers, settings = self._core.saved(), self._core.settings
        return {
            "scale": self._core.get_scale(),
            **{name: getattr(settings, name) for name in TORCH_SETTINGS},
            "_growth_tracker": int(numbers.get("growth_count", 0)),
            "fusewright": numbers,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """A state of this class or of torch.amp.GradScaler; entries that are missing keep their values.

        Raises:
            RuntimeError: the dict is empty, as that of a disabled scaler.
        """
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError("expected the state of a loss scaler, got an empty dict; it may be that of a disabled scaler")
        numbers = dict(state_dict.get("fusewright") or self._core.saved())
        for name, entry in (("scale", "scale"), ("growth_count", "_growth_tracker")):
            if entry in state_dict:
                numbers[name] = state_dict[entry]
        self._set(state_dict)
        self._core.load(numbers)
        self._history.restart(int(numbers.get("updates", 0)))

    def __getstate__(self) -> Dict[str, Any]:
        """Between an update and the next step only, as in PyTorch. A process group is not kept."""
        if not self._enabled:
            return dict(self.__dict__)
        if self._records:
            raise AssertionError(
                "expected a copy or pickle between an update() and the next unscale_() or step(), got one before "
                "update(); call update() first"
            )
        return {
            "_device": self._device,
            "_enabled": True,
            "settings": self._core.settings,
            "numbers": {"scale": self.get_scale(), **self._core.saved()},
        }

    def __setstate__(self, state: Dict[str, Any]) -> None:
        if not state["_enabled"]:
            self.__dict__.update(state)
            return
        self._device, self._enabled = state["_device"], True
        self._begin(CoreScaler(state["settings"], state["numbers"]), None)
        self._history.restart(int(state["numbers"].get("updates", 0)))
