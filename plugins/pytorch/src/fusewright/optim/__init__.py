"""Fused optimizers with torch.optim's interface; each is an op, the equations in a file."""
from .optimizer import Optimizer
from .shipped import SGD, Adam, AdamW, Lion, Recipe, from_file

__all__ = ["Adam", "AdamW", "Lion", "Optimizer", "Recipe", "SGD", "from_file"]
