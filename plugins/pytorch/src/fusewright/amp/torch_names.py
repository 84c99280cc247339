"""What code that is written for torch.amp.GradScaler reaches for beside its documented calls."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

import torch

from .core import CoreScaler
from .report import Report
from .roads import Record, Roads, flag


class TorchNames(torch.amp.GradScaler):
    """Attributes and methods with one underscore."""

    _core: CoreScaler
    _roads: Roads
    _records: Dict[int, Record]

    def _require_scaled(self, call: str) -> None:
        if not self._core.is_made():
            raise AssertionError(f"expected scale() before {call}, got no scaled loss; call scaler.scale(loss).backward()")

    def _record(self, optimizer: Any) -> Record:
        record = self._records.get(id(optimizer))
        if record is None:
            record = self._records[id(optimizer)] = Record(optimizer)
        return record

    @property
    def _init_scale(self) -> float:  # type: ignore[override]
        return self._core.settings.init_scale

    @property
    def _growth_factor(self) -> float:  # type: ignore[override]
        return self._core.settings.growth_factor

    @property
    def _backoff_factor(self) -> float:  # type: ignore[override]
        return self._core.settings.backoff_factor

    @property
    def _growth_interval(self) -> int:  # type: ignore[override]
        return self._core.settings.growth_interval

    @property
    def _scale(self) -> Optional[torch.Tensor]:  # type: ignore[override]
        return self._core.tensor

    @property
    def _growth_tracker(self) -> Optional[torch.Tensor]:  # type: ignore[override]
        if not self._core.is_made():
            return None
        return torch.tensor(self._get_growth_tracker(), dtype=torch.int32, device=self._core.place)

    @property
    def _per_optimizer_states(self) -> Dict[int, Dict[str, Any]]:  # type: ignore[override]
        return {
            key: {"stage": record.stage, "found_inf_per_device": self._found_inf_per_device(record.optimizer)}
            for key, record in self._records.items()
        }

    def _get_scale_async(self) -> Optional[torch.Tensor]:
        return self._core.tensor

    def _get_growth_tracker(self) -> int:
        return int(self._core.saved().get("growth_count", 0)) if self._enabled else 0

    def _check_inf_per_device(self, optimizer: torch.optim.Optimizer) -> Dict[Any, torch.Tensor]:
        self._require_scaled("a look at gradients")
        self._record(optimizer).found = self._roads.look("inspect", optimizer)
        return self._found_inf_per_device(optimizer)

    def _found_inf_per_device(self, optimizer: torch.optim.Optimizer) -> Dict[Any, torch.Tensor]:
        record = self._record(optimizer)
        devices: Dict[torch.device, List[Report]] = {}
        for report in (*record.found, *record.made):
            devices.setdefault(report.skipped.device, []).append(report)
        return {device: flag(reports, device) for device, reports in devices.items()}
