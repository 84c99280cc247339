"""The core's loss scaler: settings, the scale's memory on its device, numbers to save."""
from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import torch

from .. import _C
from ..context import context
from ..optim.entries import target_of
from ..optim.staging import to_device
from ..versions import bump

_MOST_COUNT = 2**24  # what f32 counts exactly; some ten million steps
_MOST_REPORTS = 8  # of fw_scaler_update
TORCH_SETTINGS = ("growth_factor", "backoff_factor", "growth_interval")


def stream_of(device: torch.device) -> int:
    """The stream that torch queues work on."""
    return _C.current_stream(device.index or 0) if device.type == "cuda" else 0


def as_f32(value: float) -> float:
    return torch.tensor(value, dtype=torch.float32, device="cpu").item()


@dataclass(frozen=True)
class Settings:
    """fw_scaler_options in the words of torch.amp.GradScaler."""

    init_scale: float
    growth_factor: float
    backoff_factor: float
    growth_interval: int
    hysteresis: int
    refill: str
    min_scale: Optional[float]
    max_scale: Optional[float]
    mode: str

    def __post_init__(self) -> None:
        for name in ("init_scale", "growth_factor", "backoff_factor", "growth_interval", "hysteresis"):
            if not isinstance(getattr(self, name), numbers.Real):
                raise TypeError(f"{name}: expected a number, got {getattr(self, name)!r}; give one")
        # The first two are of the kind that torch.amp.GradScaler raises.
        if not self.growth_factor > 1:
            raise AssertionError(f'growth_factor: expected a number > 1, got {self.growth_factor}; mode="static" keeps the scale')
        if not 0 < self.backoff_factor < 1:
            raise AssertionError(
                f'backoff_factor: expected a number in (0, 1), got {self.backoff_factor}; mode="static" keeps the scale'
            )
        for name in ("growth_interval", "hysteresis"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name}: expected a whole number >= 1, got {getattr(self, name)}; give a number of steps")
        for name, values in (("refill", ("clean", "growth")), ("mode", ("dynamic", "static"))):
            if getattr(self, name) not in values:
                raise ValueError(f'{name}: expected "{values[0]}" or "{values[1]}", got "{getattr(self, name)}"; choose one')
        low, high = self.bounds()
        if not low <= self.init_scale <= high:
            raise ValueError(
                f"init_scale: expected a number from min_scale, {low}, to max_scale, {high}, got {self.init_scale}; "
                "change one of them"
            )

    def bounds(self) -> Tuple[float, float]:
        low = min(2.0**-16, self.init_scale) if self.min_scale is None else self.min_scale
        return low, torch.finfo(torch.float32).max if self.max_scale is None else self.max_scale

    def options(self, device: torch.device) -> Dict[str, Any]:
        low, high = self.bounds()
        return {
            "device": target_of(device),
            "mode": self.mode,
            "refill": self.refill,
            "init_scale": as_f32(self.init_scale),
            "growth_factor": float(self.growth_factor),
            "backoff_factor": float(self.backoff_factor),
            "min_scale": float(low),
            "max_scale": float(high),
            "growth_interval": min(int(self.growth_interval), _MOST_COUNT),
            "hysteresis": min(int(self.hysteresis), _MOST_COUNT),
        }

    def with_torch(self, state: Mapping[str, Any]) -> Settings:
        """These, with the settings that a state of torch.amp.GradScaler has."""
        return replace(self, **{name: state[name] for name in TORCH_SETTINGS if name in state})


class CoreScaler:
    """A loss scaler that is made on the device of the first loss; until then it holds the numbers to start from."""

    def __init__(self, settings: Settings, numbers: Mapping[str, float] = {}) -> None:  # noqa: B006 never written
        self.settings = settings
        self.place: Optional[torch.device] = None
        self.tensor: Optional[torch.Tensor] = None  # the scale's memory, 0-d float32
        self._numbers = dict(numbers)
        self._scaler: Any = None
        self._scalar: Any = None
        self._copies: Dict[torch.device, torch.Tensor] = {}

    def is_made(self) -> bool:
        return self._scaler is not None

    def make(self, device: torch.device) -> None:
        made = _C.Scaler(context(), **self.settings.options(device))
        if self._numbers:
            made.load(self._numbers, stream_of(device))
        self._scaler, self._scalar, self.place = made, made.scalar(), device
        self.tensor = made.scale_tensor().view(())
        self._copies.clear()

    def change(self, settings: Settings) -> bool:
        """New settings. Whether the scale has other memory now; waits for the device then."""
        if settings == self.settings:
            return False
        self._numbers, self.settings = self.saved(), settings
        if self.place is None:
            return False
        self.make(self.place)
        return True

    # ---- The scale on devices

    def scale_on(self, device: torch.device) -> torch.Tensor:
        """A 0-d float32 tensor: the scale's memory, or a copy until the next update."""
        if self._scaler is None:
            self.make(device)
        if device == self.place:
            return self.tensor  # type: ignore[return-value]
        copy = self._copies.get(device)
        if copy is None:
            copy = self._copies[device] = to_device(self.tensor, device)  # type: ignore[arg-type]
        return copy

    def scalar_on(self, device: torch.device) -> Any:
        """The scale as a scalar of a plan on the device."""
        return self._scalar if device == self.place else self.scale_on(device)

    def set_scale(self, new_scale: Union[float, torch.Tensor], kind: str) -> None:
        """In the order of the stream. A tensor is read where it is, on a device of `kind`."""
        assert self.tensor is not None
        if not isinstance(new_scale, torch.Tensor):
            if not 0 <= new_scale < math.inf:
                raise ValueError(f"new_scale: expected a finite number >= 0, got {new_scale}; give a power of 2")
            self.tensor.fill_(new_scale)
        elif new_scale.device.type != kind or new_scale.numel() != 1 or new_scale.requires_grad:
            raise AssertionError(
                f"new_scale: expected a number, or a tensor of 1 element on {kind} that requires no gradient, got one of "
                f"{new_scale.numel()} on {new_scale.device}, requires_grad={new_scale.requires_grad}; detach it and move it"
            )
        else:
            self.tensor.copy_(new_scale.reshape(()))

    # ---- What became of steps

    def update(self, skipped: Sequence[torch.Tensor]) -> None:
        assert self.place is not None
        numbers: List[torch.Tensor] = [to_device(number, self.place) for number in skipped]
        if len(numbers) > _MOST_REPORTS:
            rest = torch.stack([number.reshape(()) for number in numbers[_MOST_REPORTS - 1 :]])
            first = (rest != 0).to(torch.uint8).argmax()  # the first that is not 0
            numbers[_MOST_REPORTS - 1 :] = [rest.gather(0, first.reshape(1))]
        self._scaler.update(numbers, stream_of(self.place))

    def moved(self) -> None:
        """The scale has another value."""
        # Whoever saved it for a backward that comes only now is told so by autograd.
        bump([self.tensor])  # type: ignore[list-item]
        if self._copies:
            self._copies.clear()

    def read(self, wait: bool) -> Mapping[str, Any]:
        assert self.place is not None
        if wait:
            self._scaler.wait(stream_of(self.place))
        return self._scaler.read()

    # ---- Numbers

    def get_scale(self) -> float:
        if self.tensor is not None:
            return self.tensor.item()
        return as_f32(self._numbers.get("scale", self.settings.init_scale))

    def saved(self) -> Dict[str, float]:
        """All numbers, by name; those of a scaler that is not made yet may be missing. Waits for the device."""
        return dict(self._numbers) if self.place is None else dict(self._scaler.save(stream_of(self.place)))

    def load(self, numbers: Mapping[str, float]) -> None:
        rounded = dict(numbers)
        if "scale" in rounded:
            rounded["scale"] = as_f32(float(rounded["scale"]))
        if "growth_count" in rounded:
            rounded["growth_count"] = float(min(int(rounded["growth_count"]), _MOST_COUNT))
        if self.place is not None:
            self._scaler.load(rounded, stream_of(self.place))
        self._numbers = rounded
        self._copies.clear()
