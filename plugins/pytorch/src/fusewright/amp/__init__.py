"""Mixed precision: the loss scaler, and clipping of gradients in one pass."""
from .clip import clip_grad_norm_, clip_grad_value_
from .grad_scaler import GradScaler
from .report import ScalerState

__all__ = ["GradScaler", "ScalerState", "clip_grad_norm_", "clip_grad_value_"]
