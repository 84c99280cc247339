"""Fused training kernels from equations, for PyTorch.

    from fusewright.optim import AdamW

`python -m fusewright doctor` says what works on this machine. Nothing is loaded before it is used: the import needs no
GPU, no CUDA toolkit and no home folder.
"""
import importlib
import sys
import sysconfig

# Name -> (module, attribute); None: the module itself. Imported on first use, since torch takes seconds to import.
_LAZY = {
    "amp": ("fusewright.amp", None),
    "distributed": ("fusewright.distributed", None),
    "optim": ("fusewright.optim", None),
    "GradientArena": ("fusewright.arena", "GradientArena"),
    "Error": ("fusewright._C", "Error"),
    "shipped_ops": ("fusewright._C", "shipped_ops"),
}

__all__ = ["__version__", "context", *sorted(_LAZY)]


def _import_binding():
    """The extension, or an ImportError that says why it is missing."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise ImportError("expected a Python with the GIL, got a free-threaded build; run fusewright with the usual build of Python")
    try:
        return importlib.import_module("fusewright._C")
    except ModuleNotFoundError as error:
        if error.name != "fusewright._C":
            raise
        raise ImportError(
            f"expected the extension fusewright._C beside {__file__}, got none; these are sources: install the package "
            "(pip install .), or build it and set PYTHONPATH to plugins/pytorch/stage of the build folder"
        ) from None


_C = _import_binding()
__version__ = _C.versions()["fusewright"]
# Not lazy: importing a submodule of this name later would put the module in the function's place.
from fusewright.context import context  # noqa: E402


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module 'fusewright' has no attribute {name!r}")
    module_name, attribute = _LAZY[name]
    module = importlib.import_module(module_name)
    value = module if attribute is None else getattr(module, attribute)
    if attribute is not None:
        setattr(sys.modules[__name__], name, value)
    return value


def __dir__():
    return sorted({*globals(), *_LAZY})
