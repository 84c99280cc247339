"""The context that everything in a process shares."""
import os
import sys
import threading
from pathlib import Path

from fusewright import _C

_lock = threading.Lock()
_context = None


def _packaged_nvrtc():
    """The NVRTC that torch's own packages have brought to this Python, newest first; None where there is none.

    The core looks into VIRTUAL_ENV and beside the python3 on PATH, which need not be the Python that runs.
    """
    for folder in map(Path, sys.path):
        for name in ("nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"):
            if (folder / name).is_file():
                return str(folder / name)
    return None


def _make_context():
    nvrtc = None if os.environ.get("FUSEWRIGHT_NVRTC") else _packaged_nvrtc()
    if nvrtc is None:
        return _C.Context()
    os.environ["FUSEWRIGHT_NVRTC"] = nvrtc  # the core reads its settings while the context is made
    try:
        return _C.Context()
    finally:
        del os.environ["FUSEWRIGHT_NVRTC"]


def context():
    """The process's `_C.Context`, made on first use with the settings of the environment (FUSEWRIGHT_*).

    A child of fork() has its parent's: it works on the CPU, and on GPUs unless the parent had used one.
    """
    global _context
    if _context is None:
        with _lock:
            if _context is None:
                _context = _make_context()
    return _context


def _renew_lock():
    """Another thread may have held it when the process forked."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
