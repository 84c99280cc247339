"""Warnings at the user's line."""
from __future__ import annotations

import sys
import warnings

_OURS = ("fusewright", "torch")


def warn(text: str) -> None:
    """A UserWarning of the innermost frame that is neither this package's nor torch's."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)
