#!/usr/bin/env python3
"""Loss scalers beside the real torch.amp.GradScaler on the CPU, step by step and to the bit.

usage: test_torch.py LIBRARY
"""
import ctypes
import os
import random
import sys
import unittest
import warnings

try:
    import torch
except ImportError:
    torch = None

PATTERNS, STEPS = 40, 60


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                *((name, ctypes.c_char_p) for name in ("device", "mode", "refill", "denormals")),
                *((name, ctypes.c_double) for name in ("init_scale", "growth_factor", "backoff_factor", "min_scale", "max_scale")),
                *((name, ctypes.c_int64) for name in ("growth_interval", "hysteresis"))]


class State(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("outcome", ctypes.c_int32), ("tensor", ctypes.c_int64),
                *((name, ctypes.c_uint64) for name in ("report", "updates", "skips", "skips_in_a_row", "growth_count",
                                                        "hysteresis_left")),
                *((name, ctypes.c_double) for name in ("scale", "previous_scale"))]


class Library:
    """The C API, as far as scalers need it."""

    def __init__(self, path):
        self.dll = ctypes.CDLL(path)
        self.context = ctypes.c_void_p()
        self.call("fw_context_create", None, ctypes.byref(self.context))

    def call(self, name, *arguments):
        status = getattr(self.dll, name)(*arguments)
        if status:
            raise AssertionError(f"{name}: status {status}")


class Scaler:
    def __init__(self, library, **settings):
        self.library, self.handle = library, ctypes.c_void_p()
        options = Options()
        library.dll.fw_scaler_options_init(ctypes.byref(options))
        for name, value in settings.items():
            setattr(options, name, value)
        library.call("fw_scaler_create", library.context, ctypes.byref(options), ctypes.byref(self.handle))

    def update(self, skipped):
        number = ctypes.c_float(skipped)
        addresses = (ctypes.c_void_p * 1)(ctypes.addressof(number))
        self.library.call("fw_scaler_update", self.handle, addresses, ctypes.c_size_t(1), None)

    def state(self):
        state = State(struct_size=ctypes.sizeof(State))
        self.library.call("fw_scaler_read", self.handle, ctypes.byref(state))
        return state

    def close(self):
        self.library.dll.fw_scaler_destroy(self.handle)


class Torch:
    """torch.amp.GradScaler with an optimizer of one parameter, as a training loop uses it."""

    def __init__(self, scale, growth_factor, backoff_factor, growth_interval):
        self.parameter = torch.nn.Parameter(torch.zeros(3))
        self.optimizer = torch.optim.SGD([self.parameter], lr=0.0)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=scale, growth_factor=growth_factor,
                                           backoff_factor=backoff_factor, growth_interval=growth_interval)
        self.scaler.scale(torch.zeros(()))  # makes its tensors

    def update(self, is_bad):
        self.parameter.grad = torch.tensor([1.0, float("inf") if is_bad else 0.0, 0.0])
        self.scaler.unscale_(self.optimizer)
        self.scaler.step(self.optimizer)
        self.scaler.update()


class BesideTorch(unittest.TestCase):
    def test_scales_are_those_of_GradScaler(self):
        library, rng = Library(LIBRARY), random.Random(2018)
        for pattern in range(PATTERNS):
            settings = {"growth_factor": rng.choice([2.0, rng.uniform(1.01, 9)]),
                        "backoff_factor": rng.choice([0.5, rng.uniform(0.01, 0.99)]),
                        "growth_interval": rng.randint(1, 9)}
            scale = 2.0 ** rng.randint(-20, 126)
            ours, theirs = Scaler(library, init_scale=scale, min_scale=0.0, **settings), Torch(scale, **settings)
            rate = rng.uniform(0, 0.7) ** 2
            for step in range(STEPS):
                is_bad = rng.random() < rate
                theirs.update(is_bad)
                ours.update(2.0 if is_bad else 0.0)
                state = ours.state()
                self.assertEqual((state.scale, state.growth_count),
                                 (theirs.scaler.get_scale(), theirs.scaler._growth_tracker.item()),
                                 f"pattern {pattern}, step {step}: {settings}")
            ours.close()


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    os.environ["FUSEWRIGHT_LOG"] = "error"  # thousands of skips
    warnings.simplefilter("ignore")
    if torch is None:
        print("skipped: torch is not installed")
        sys.exit(77)
    unittest.main()
