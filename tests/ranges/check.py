#!/usr/bin/env python3
"""Calls of the library are ranges where a profiler listens, and nothing else is written where none does.

usage: check.py PROGRAM RECORDER
"""
import os
import subprocess
import sys
import unittest

PROGRAM, RECORDER = sys.argv[1:3]
CALLS = ["fw_compile scale", "fw_launch scale", "fw_plan_run scale"]


def lines(**environment):
    kept = {name: value for name, value in os.environ.items() if name != "NVTX_INJECTION64_PATH"}
    run = subprocess.run([PROGRAM], env={**kept, **environment}, capture_output=True, text=True)
    if run.returncode:
        raise AssertionError(f"exit code {run.returncode}: {run.stderr}")
    return run.stderr.splitlines()


class Ranges(unittest.TestCase):
    def test_each_call_is_one_range_with_its_op(self):
        self.assertEqual(lines(NVTX_INJECTION64_PATH=RECORDER),
                         ["domain fusewright"] + [line for call in CALLS for line in (f"push {call}", "pop")])

    def test_without_a_profiler_nothing_happens(self):
        self.assertEqual(lines(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
