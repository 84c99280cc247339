#!/usr/bin/env python3
"""Trains with the example and provokes each of its errors. Usage: test_digits.py PROGRAM"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else "digits"
HERE = Path(__file__).resolve().parent


def run(*arguments, driver=None):
    settings = dict(os.environ, FUSEWRIGHT_CUDA_DRIVER=driver) if driver else None
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=settings)


class Training(unittest.TestCase):
    def accuracy(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return float(re.search(r"^test accuracy ([\d.]+) %$", result.stdout, re.M).group(1))

    def test_adamw_reaches_93_percent(self):
        self.assertGreaterEqual(self.accuracy("--expect", 93), 93)

    def test_same_seed_gives_the_same_losses(self):
        first, second = (re.findall(r"loss +(\S+)", run("--epochs", 3).stdout) for _ in range(2))
        self.assertEqual(len(first), 3)
        self.assertEqual(first, second)

    def test_other_shipped_op(self):
        self.assertGreaterEqual(self.accuracy("--op", "sgd", "--lr", 0.3), 93)

    def test_op_file_of_the_user(self):
        self.assertGreaterEqual(self.accuracy("--optimizer", HERE / "rmsprop.fuse"), 93)

    def test_no_epoch_trains_nothing(self):
        self.assertLess(self.accuracy("--epochs", 0), 40)


class Errors(unittest.TestCase):
    def assert_error(self, code, text, *arguments):
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stderr), (code, f"error: {text}\n"))

    def test_arguments(self):
        self.assert_error(2, "expected --lr as a number from 0 to 1000, got 'fast'; see digits --help", "--lr", "fast")
        self.assert_error(2, "expected --epochs as an integer, got '1.5'; see digits --help", "--epochs", "1.5")
        self.assert_error(2, "expected --device cpu or cuda, got 'tpu'; see digits --help", "--device", "tpu")
        self.assert_error(2, "expected an option, got 'now'; see digits --help", "now")
        self.assert_error(2, "expected a value after --lr, got the end of the line; see digits --help", "--lr")

    def test_low_accuracy_fails_the_check(self):
        result = run("--epochs", 0, "--expect", 93)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^error: expected a test accuracy of at least 93 %, got [\d.]+ %; ")

    def test_missing_file(self):
        self.assert_error(2, "expected a readable data file, got 'none.csv' (No such file or directory); give --data FILE",
                          "--data", "none.csv")

    def test_damaged_data_names_the_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bad.csv"
            path.write_text(",".join(["0"] * 64) + ",3\n" + ",".join(["99"] * 65) + "\n")
            self.assert_error(2, f"{path}:2: expected a number from 0 to 16, got '99,99,99'; give a file of the digits data",
                              "--data", path)

    def test_missing_device(self):
        result = run("--device", "cuda", "--epochs", 0, driver="/nowhere/libcuda.so.1")
        self.assertEqual(result.returncode, 4)
        self.assertRegex(result.stderr, r"(?m)^error: expected the CUDA driver \(/nowhere/libcuda.so.1\), got none that opens; ")

    def test_unknown_op(self):
        result = run("--op", "adammw")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "^error: expected .*, got .*adammw")

    def test_op_that_is_no_optimizer(self):
        result = run("--op", "scale")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "^error: expected an optimizer with a param, a grad and states, got operand ")

    def test_mistake_in_the_op_file_names_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mine.fuse"
            path.write_text("op mine over elements {\n  param p;  grad g\n  p = p - lrr*g\n}\n")
            result = run("--optimizer", path)
        self.assertEqual(result.returncode, 3)
        self.assertIn(f"{path}:3:11: error: expected ", result.stderr)


if __name__ == "__main__":
    unittest.main()
