#!/usr/bin/env python3
"""Counts single test cases in Meson's test logs and prints the closing line of a test run.

Meson counts executables; a GoogleTest, lit or unittest executable holds many cases, which print
themselves. An executable of another kind counts as one case by its exit status.
"""
import argparse
import json
import re
import sys
from collections import Counter, namedtuple
from pathlib import Path

Counts = namedtuple("Counts", "passed failed skipped")

GTEST_CASE = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?),?(?: where .*)? \(\d+ ms\)$", re.M)
GTEST_REASON = re.compile(r"^\S+:\d+: Skipped\n(.+)", re.M)
LIT_TOTAL = re.compile(
    r"^ +(Passed|Failed|Unsupported|Skipped|Unresolved|Timed Out|Unexpectedly Passed|Expectedly Failed) *: (\d+)", re.M)
LIT_KIND = {"Passed": "passed", "Expectedly Failed": "passed", "Unsupported": "skipped", "Skipped": "skipped"}
UNITTEST_TOTAL = re.compile(r"^Ran (\d+) tests? in [\d.]+s\n\n(OK|FAILED)(?: \((.*)\))?", re.M)


def count_gtest(text):
    kinds = Counter(kind for kind, _ in GTEST_CASE.findall(text))
    return Counts(kinds["OK"], kinds["FAILED"], kinds["SKIPPED"]) if kinds else None


def count_lit(text):
    totals = LIT_TOTAL.findall(text)
    if not totals:
        return None
    kinds = Counter()
    for kind, number in totals:
        kinds[LIT_KIND.get(kind, "failed")] += int(number)
    return Counts(kinds["passed"], kinds["failed"], kinds["skipped"])


def count_unittest(text):
    runs = UNITTEST_TOTAL.findall(text)
    if not runs:
        return None
    total = failed = skipped = 0
    for number, _, details in runs:
        total += int(number)
        for kind, amount in re.findall(r"([a-z ]+)=(\d+)", details):
            if kind.strip() in ("failures", "errors", "unexpected successes"):
                failed += int(amount)
            elif kind.strip() == "skipped":
                skipped += int(amount)
    return Counts(total - failed - skipped, failed, skipped)


def count_test(test):
    """The cases of one Meson test; an executable that failed without a failed case (a crash, a
    time-out, a sanitizer's report) adds one failure."""
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    result = test["result"]
    if result == "SKIP":
        return Counts(0, 0, 1)
    bad = result not in ("OK", "EXPECTEDFAIL")
    counts = count_gtest(text) or count_lit(text) or count_unittest(text)
    if counts is None:
        return Counts(0, 1, 0) if bad else Counts(1, 0, 0)
    if bad and counts.failed == 0:
        return counts._replace(failed=1)
    return counts


def skip_reasons(test):
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    if test["result"] == "SKIP":
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return [lines[-1] if lines else "no reason printed"]
    return GTEST_REASON.findall(text)


def read_log(path):
    """The tests of a log; a line that cannot be read stands for a failed test."""
    tests = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            tests.append(json.loads(line))
        except ValueError:
            tests.append({"name": "damaged line of the log", "result": "ERROR"})
    return tests


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="*", type=Path, help="Meson's JSON logs: one test a line")
    parser.add_argument("--broken-stages", type=int, default=0,
                        help="stages that failed before a test ran; each counts as a failure")
    options = parser.parse_args(arguments)
    total = Counts(0, options.broken_stages, 0)
    reasons, failures = Counter(), []
    for path in options.logs:
        for test in read_log(path):
            counts = count_test(test)
            total = Counts(*(a + b for a, b in zip(total, counts)))
            where = f"{path.parts[-3]}: {test['name']}"
            reasons.update(f"{test['name']}: {reason}" for reason in skip_reasons(test))
            if counts.failed:
                failures.append(f"{where} ({test['result'].lower()})")
    for title, lines in (("skipped, and why", [f"{n} x {r}" for r, n in sorted(reasons.items())]),
                         ("failed", failures)):
        if lines:
            print(title + "\n" + "\n".join(f"  {line}" for line in lines) + "\n")
    if total.passed + total.failed == 0:
        total = total._replace(failed=1)
        print("error: expected at least one test, got none\n")
    print(f"{total.passed} passed, {total.failed} failed" + (f", {total.skipped} skipped" if total.skipped else ""))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
