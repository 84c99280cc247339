"""What an optimizer does beside its equations: features of the op, and where and in which dtype states live."""
from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Tuple, Union

import torch
import torch.distributed as dist

from .metadata import DTYPES, OpInfo, is_narrow

if TYPE_CHECKING:
    from typing_extensions import TypedDict

    class Features(TypedDict, total=False):
        """Keyword arguments that every optimizer takes; see Settings."""

        state_dtype: Optional[torch.dtype]
        master_weights: bool
        low_precision_copy: Optional[torch.dtype]
        max_norm: Union[None, float, torch.Tensor]
        clip_value: Union[None, float, torch.Tensor]
        ema_decay: Union[None, float, torch.Tensor]
        zero_gradients: bool
        guard: bool
        offload: Optional[str]
        process_group: Any


def _check_group(value: Any) -> None:
    if not dist.is_available():
        raise ValueError(f"process_group: expected None, got {value!r}; this torch is built without torch.distributed")
    if not isinstance(value, dist.ProcessGroup):
        is_outside = value == dist.GroupMember.NON_GROUP_MEMBER
        raise ValueError(f"process_group: expected a torch.distributed.ProcessGroup, got {value!r}; " +
                         ("this process is not in the group: make the optimizer on its ranks alone" if is_outside else
                          "pass torch.distributed.group.WORLD, or what new_group() or mesh.get_group() gives"))


@dataclass
class Settings:
    """
    Numbers are floats, or tensors of one element: f32, f64, f16, bf16, i32 or i64 on the parameters' device, read there by each
    step; of the CPU, by the host.

    state_dtype: dtype of new states; None: float32, float64 for float64 parameters.
    master_weights: parameters narrower than float32 are kept in float32 beside the model's (state "master_param"), and so are the others
        that are stepped together with some: a plan has one set of features.
    low_precision_copy: every new parameter is stored a second time in this dtype (state "low_precision_copy").
    max_norm: gradients of all groups are scaled to a common norm of at most that; `optimizer.norm` tells the norm.
    clip_value: limit of the size of each element of the gradients.
    ema_decay: the moving average of each parameter is kept (state "ema").
    zero_gradients: gradients are 0 behind a step; by the kernel of the step, and by one of torch's where it may be skipped.
    guard: a step with a gradient that is not finite changes nothing; `optimizer.applied` tells.
    offload: "cpu": states and masters in host memory, where the step is computed.
    process_group: norm and decision to skip are those of all its ranks (fusewright.distributed).
    """

    state_dtype: Optional[torch.dtype] = None
    master_weights: bool = False
    low_precision_copy: Optional[torch.dtype] = None
    max_norm: Union[None, float, torch.Tensor] = None
    clip_value: Union[None, float, torch.Tensor] = None
    ema_decay: Union[None, float, torch.Tensor] = None
    zero_gradients: bool = False
    guard: bool = False
    offload: Optional[str] = None
    process_group: Any = None

    def __post_init__(self) -> None:
        for name in ("state_dtype", "low_precision_copy"):
            dtype = getattr(self, name)
            if dtype is not None and dtype not in DTYPES:
                raise ValueError(f"{name}: expected one of {', '.join(map(str, DTYPES))}, got {dtype!r}; pass a torch.dtype")
        if self.offload not in (None, "cpu"):
            raise ValueError(f'offload: expected None or "cpu", got {self.offload!r}; states live on the device or on the host')
        if self.process_group is not None:
            _check_group(self.process_group)
        for name in ("max_norm", "clip_value", "ema_decay"):
            value = getattr(self, name)
            if value is None or (isinstance(value, torch.Tensor) and value.numel() == 1):
                continue
            most = 1 if name == "ema_decay" else math.inf
            if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 <= value <= most:
                wanted = "in [0, 1]" if most == 1 else ">= 0"
                raise ValueError(f"{name}: expected a number {wanted}, got {value!r}; a tensor has one element, and None turns "
                                 "the feature off")

    @classmethod
    def names(cls) -> List[str]:
        return [field.name for field in fields(cls)]

    def features(self, info: OpInfo, has_masters: bool, is_scaled: bool) -> Tuple[str, ...]:
        """Features of the requests of one lane, in the order of their names."""
        wanted = {"clip": self.max_norm is not None, "clip_value": self.clip_value is not None,
                  "copy": self.low_precision_copy is not None, "ema": self.ema_decay is not None,
                  "guard": self.guard or is_scaled, "unscale": is_scaled, "zero_grad": self.zero_gradients and not (self.guard or is_scaled),
                  "master": has_masters}
        found = tuple(name for name in sorted(wanted) if wanted[name])
        missing = [name for name in found if name not in info.op.features]
        if missing:
            raise ValueError(f"op {info.op.name}: expected features {', '.join(info.op.features)}, got {missing[0]}; "
                             "leave its argument out")
        return found

    def has_masters(self, parameters: Iterable[torch.Tensor]) -> bool:
        """Whether parameters that are stepped together have masters."""
        return self.master_weights and any(is_narrow(parameter.dtype) for parameter in parameters)

    def scalars(self) -> Dict[str, Any]:
        """The numbers that the features read, the same in all groups."""
        values = {"all.max_norm": self.max_norm, "all.max_value": self.clip_value, "all.ema_decay": self.ema_decay}
        return {name: value for name, value in values.items() if value is not None}

    def couples_parameters(self) -> bool:
        """Whether one parameter's gradient decides about another's step."""
        return self.max_norm is not None or self.guard

    def device_of(self, parameter: torch.Tensor) -> torch.device:
        """Where the states of a parameter are, and where its step is computed."""
        return torch.device("cpu") if self.offload == "cpu" else parameter.device

    def dtype_of(self, info: OpInfo, operand: str, parameter: torch.Tensor) -> torch.dtype:
        """Dtype of a new state."""
        exact = torch.float64 if parameter.dtype == torch.float64 else torch.float32
        if operand == f"{info.param}.copy":
            return self.low_precision_copy or torch.bfloat16
        if operand in (f"{info.param}.master", f"{info.param}.ema"):
            return exact
        return self.state_dtype or exact
