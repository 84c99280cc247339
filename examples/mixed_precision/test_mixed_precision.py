#!/usr/bin/env python3
"""Trains with the example and reads what it tells of the step that overflows.

usage: test_mixed_precision.py PROGRAM [--device DEVICE]
"""
import argparse
import re
import subprocess
import sys
import unittest

OPTIONS = argparse.Namespace(program="mixed_precision", device="cpu")


def run(*arguments):
    command = [OPTIONS.program, "--device", OPTIONS.device, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


class Training(unittest.TestCase):
    def train(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_skips_the_overflow_and_reaches_93_percent(self):
        output = self.train("--expect", 93)
        self.assertIn("step 100 skipped: a gradient of W2 is not finite; loss scale 65536 to 32768\n", output)
        self.assertEqual(output.count("skipped"), 1)

    def test_the_scale_grows_again(self):
        scales = [float(text) for text in re.findall(r"loss scale (\S+)   test", self.train("--epochs", 8))]
        self.assertEqual(len(scales), 8)
        self.assertLess(min(scales), 65536)
        self.assertGreater(scales[-1], min(scales))

    def test_without_an_overflow_nothing_is_skipped(self):
        self.assertNotIn("skipped", self.train("--epochs", 2, "--overflow-at", 0))

    def test_same_losses_each_time(self):
        first, second = (re.findall(r"^loss +(\S+)", self.train("--epochs", 3), re.M) for _ in range(2))
        self.assertEqual(len(first), 3)
        self.assertEqual(first, second)


class Errors(unittest.TestCase):
    def test_arguments(self):
        for text, arguments in [
                ("expected --lr as a number from 0 to 1000, got 'fast'; see mixed_precision --help", ["--lr", "fast"]),
                ("expected an option, got 'now'; see mixed_precision --help", ["now", "1"]),
                ("expected a value after --lr, got the end of the line; see mixed_precision --help", ["--lr"])]:
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stderr), (2, f"error: {text}\n"))

    def test_low_accuracy_fails_the_check(self):
        result = run("--epochs", 0, "--expect", 93)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"error: expected a test accuracy of at least 93 %, got [\d.]+ %; train longer")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--device", default="cpu")
    parser.parse_args(namespace=OPTIONS)
    unittest.main(argv=sys.argv[:1])
