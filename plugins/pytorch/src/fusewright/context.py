"""The context that everything in a process shares."""
import os
import threading

from fusewright import _C

_lock = threading.Lock()
_context = None


def context():
    """The process's `_C.Context`, made on first use with the settings of the environment (FUSEWRIGHT_*).

    A child of fork() has its parent's: it works on the CPU, and on GPUs unless the parent had used one.
    """
    global _context
    if _context is None:
        with _lock:
            if _context is None:
                _context = _C.Context()
    return _context


def _renew_lock():
    """Another thread may have held it when the process forked."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
