#!/usr/bin/env python3
"""Counts single test cases in Meson's test logs and prints the closing line of a test run.

Meson counts executables; a GoogleTest, lit, unittest or pytest executable holds many cases, which
print themselves. An executable of another kind counts as one case by its exit status. A skip that no row of
tests/skips.def allows counts as a failure.
"""
import argparse
import json
import os
import re
import sys
from collections import Counter, namedtuple
from fnmatch import fnmatchcase
from pathlib import Path

SKIPS = Path(__file__).resolve().parent.parent / "tests/skips.def"
SKIP_ROW = re.compile(r'^FW_SKIP\(\.test = "(.*?)", *\.reason = "(.*?)", *\.when = "(.*?)"\)', re.M)
Skip = namedtuple("Skip", "test reason when")


def has_gpu(_):
    return Path("/dev/nvidiactl").exists()


def has_sanitizer(build, *names):
    return any(name in build for name in names)


# Where a skip is right; `build` is the name of the build folder: "build-asan".
CONDITIONS = {
    "everywhere": lambda build: True,
    "GPU": has_gpu,
    "no GPU": lambda build: not has_gpu(build),
    "AddressSanitizer": lambda build: has_sanitizer(build, "asan"),
    "no AddressSanitizer": lambda build: not has_sanitizer(build, "asan"),
    "ThreadSanitizer": lambda build: has_sanitizer(build, "tsan"),
    "sanitizer": lambda build: has_sanitizer(build, "asan", "tsan"),
    "root": lambda build: os.geteuid() == 0,
}

Counts = namedtuple("Counts", "passed failed skipped")

GTEST_CASE = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?),?(?: where .*)? \(\d+ ms\)$", re.M)
GTEST_REASON = re.compile(r"^\S+:\d+: Skipped\n(.+)", re.M)
LIT_TOTAL = re.compile(
    r"^ +(Passed|Failed|Unsupported|Skipped|Unresolved|Timed Out|Unexpectedly Passed|Expectedly Failed) *: (\d+)", re.M)
LIT_KIND = {"Passed": "passed", "Expectedly Failed": "passed", "Unsupported": "skipped", "Skipped": "skipped"}
# pytest -q -rs: "3 failed, 40 passed, 1 skipped in 4.20s (0:00:04)" alone on a line, or between signs of equality.
PYTEST_TOTAL = re.compile(r"^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$", re.M)
PYTEST_REASON = re.compile(r"^SKIPPED \[(\d+)\] \S+?(?::\d+)?: (.*)$", re.M)
PYTEST_FAILED = ("failed", "error", "errors", "xpassed")
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


def count_pytest(text):
    totals = PYTEST_TOTAL.findall(text)
    if not totals:
        return None
    kinds = {kind: int(number) for number, kind in re.findall(r"(\d+) ([a-z]+)", totals[-1])}
    failed = sum(kinds.get(kind, 0) for kind in PYTEST_FAILED)
    return Counts(kinds.get("passed", 0) + kinds.get("xfailed", 0), failed, kinds.get("skipped", 0))


def count_test(test):
    """The cases of one Meson test; an executable that failed without a failed case (a crash, a
    time-out, a sanitizer's report) adds one failure."""
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    result = test["result"]
    if result == "SKIP":
        return Counts(0, 0, 1)
    bad = result not in ("OK", "EXPECTEDFAIL")
    counts = count_gtest(text) or count_lit(text) or count_unittest(text) or count_pytest(text)
    if counts is None:
        return Counts(0, 1, 0) if bad else Counts(1, 0, 0)
    if bad and counts.failed == 0:
        return counts._replace(failed=1)
    return counts


def skip_reasons(test):
    """One reason for each case that was skipped."""
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    if test["result"] == "SKIP":
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return [lines[-1] if lines else "no reason printed"]
    if count_gtest(text):
        reasons, silent = GTEST_REASON.findall(text), "no reason printed"
    elif count_pytest(text) and not count_lit(text) and not count_unittest(text):
        reasons = [reason for number, reason in PYTEST_REASON.findall(text) for _ in range(int(number))]
        silent = "no reason printed"
    else:
        reasons, silent = [], "a case of " + ("lit" if count_lit(text) else "unittest")
    return reasons + [silent] * (count_test(test).skipped - len(reasons))


def read_skips(path):
    """The rows of a table of skips. A line that is no row, or names no condition, is an error."""
    text = re.sub(r" *//[^\n]*", "", path.read_text(encoding="utf-8"))
    rows = [Skip(*row) for row in SKIP_ROW.findall(text)]
    if len(rows) != sum(1 for line in text.splitlines() if line):
        raise ValueError(f"{path}: expected rows FW_SKIP(.test, .reason, .when) alone, got another line")
    for row in rows:
        if row.when not in CONDITIONS:
            raise ValueError(f"{path}: expected one of {', '.join(CONDITIONS)}, got '{row.when}'")
    return rows


def is_allowed(skips, test, reason, build):
    """Whether a row allows the skip. Meson's names in a log have "project:suite / " in front."""
    name = test.rsplit(" / ", 1)[-1]
    return any(
        fnmatchcase(name, row.test) and fnmatchcase(reason, row.reason) and CONDITIONS[row.when](build) for row in skips
    )


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
    parser.add_argument("--skips", type=Path, default=SKIPS, help="the table of skips (default: tests/skips.def)")
    options = parser.parse_args(arguments)
    skips = read_skips(options.skips)
    total = Counts(0, options.broken_stages, 0)
    reasons, failures = Counter(), []
    for path in options.logs:
        for test in read_log(path):
            counts = count_test(test)
            total = Counts(*(a + b for a, b in zip(total, counts)))
            where = f"{path.parts[-3]}: {test['name']}"
            skipped = skip_reasons(test)
            reasons.update(f"{test['name']}: {reason}" for reason in skipped)
            if counts.failed:
                failures.append(f"{where} ({test['result'].lower()})")
            unknown = [reason for reason in skipped if not is_allowed(skips, test["name"], reason, path.parts[-3])]
            total = Counts(total.passed, total.failed + len(unknown), total.skipped - len(unknown))
            failures += [f"{where}: skipped without a row in tests/skips.def: {reason}" for reason in sorted(set(unknown))]
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
