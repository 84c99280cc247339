#!/usr/bin/env python3
"""Proves that tools/count_tests.py counts single cases, names skips and misses no failure."""
import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))

import count_tests  # noqa: E402

GTEST = """[==========] Running 4 tests from 1 test suite.
[       OK ] Lexer.Numbers (0 ms)
[       OK ] All/Casts.Exact/bf16, where GetParam() = (1, 2) (3 ms)
t.cpp:9: Skipped
no CUDA device
[  SKIPPED ] Gpu.Loads (0 ms)
[  FAILED  ] Lexer.Names (1 ms)
[  PASSED  ] 2 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Gpu.Loads
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Lexer.Names
"""
SKIPS = """// Of these tests.
FW_SKIP(.test = "t",  .reason = "no CUDA device",   .when = "everywhere")
FW_SKIP(.test = "t",  .reason = "skipped: no *",    .when = "everywhere") // tools
FW_SKIP(.test = "t*", .reason = "a case of lit",    .when = "AddressSanitizer")
"""
LIT = "Testing Time: 0.1s\n\nTotal Discovered Tests: 7\n  Unsupported: 1 (14.29%)\n  Passed     : 5 (71.43%)\n  Failed     : 1 (14.29%)\n"
PYTEST = """......F.s..s
================== FAILURES ===================
____ test_step ____
E   assert 3 passed in 1.0s
=========================== short test summary info ============================
SKIPPED [2] tests/test_step.py:21: no CUDA device
1 failed, 9 passed, 2 skipped, 1 error in 75.21s (0:01:15)
"""


def one(result="OK", stdout="", stderr=""):
    return {"name": "t", "result": result, "stdout": stdout, "stderr": stderr}


class CountTests(unittest.TestCase):
    def closing_line(self, tests, *arguments, build="build"):
        with tempfile.TemporaryDirectory() as folder:
            skips = Path(folder) / "skips.def"
            skips.write_text(SKIPS)
            arguments = [*arguments, "--skips", str(skips)]
            log = Path(folder) / build / "meson-logs" / "testlog.json"
            log.parent.mkdir(parents=True)
            log.write_text("".join(json.dumps(test) + "\n" for test in tests))
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                status = count_tests.main([*arguments, str(log)])
        return status, output.getvalue()

    def test_gtest_cases(self):
        self.assertEqual(count_tests.count_test(one("FAIL", GTEST)), (2, 1, 1))

    def test_crash_after_good_cases_is_a_failure(self):
        self.assertEqual(count_tests.count_test(one("FAIL", "[       OK ] A.B (0 ms)\n")), (1, 1, 0))

    def test_pytest_cases(self):
        self.assertEqual(count_tests.count_test(one("FAIL", PYTEST)), (9, 2, 2))
        self.assertEqual(count_tests.count_test(one(stdout="..\n2 passed in 0.10s\n")), (2, 0, 0))
        self.assertEqual(count_tests.count_test(one(stdout="=== 1 passed, 1 warning in 0.10s ===\n")), (1, 0, 0))
        self.assertEqual(count_tests.count_test(one("FAIL", "..\n2 passed in 0.10s\n")), (2, 1, 0))

    def test_pytest_skips_have_rows(self):
        status, output = self.closing_line([one(stdout="s.\nSKIPPED [1] a/t.py:2: no CUDA device\n1 passed, 1 skipped in 0.1s\n")])
        self.assertEqual((status, output.splitlines()[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        status, output = self.closing_line([one(stdout="s.\nSKIPPED [1] a/t.py:2: no mood\n1 passed, 1 skipped in 0.1s\n")])
        self.assertEqual((status, output.splitlines()[-1]), (1, "1 passed, 1 failed"))

    def test_lit_totals(self):
        self.assertEqual(count_tests.count_test(one("FAIL", LIT)), (5, 1, 1))

    def test_unittest_totals(self):
        text = "Ran 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=3)\n"
        self.assertEqual(count_tests.count_test(one("FAIL", stderr=text)), (3, 3, 3))
        self.assertEqual(count_tests.count_test(one("OK", stderr="Ran 9 tests in 0.1s\n\nOK\n")), (9, 0, 0))

    def test_plain_executables(self):
        self.assertEqual(count_tests.count_test(one("OK")), (1, 0, 0))
        self.assertEqual(count_tests.count_test(one("TIMEOUT")), (0, 1, 0))
        self.assertEqual(count_tests.count_test(one("SKIP")), (0, 0, 1))

    def test_report_ends_with_the_closing_line_and_names_skips(self):
        status, text = self.closing_line([one("FAIL", GTEST), one("SKIP", "skipped: no tool\n")])
        self.assertEqual(status, 1)
        self.assertEqual(text.splitlines()[-1], "2 passed, 1 failed, 2 skipped")
        self.assertIn("1 x t: no CUDA device", text)
        self.assertIn("1 x t: skipped: no tool", text)

    def test_skip_without_a_row_is_a_failure(self):
        missing = GTEST.replace("no CUDA device", "NVRTC is not installed: none found")
        status, text = self.closing_line([one("FAIL", missing)])
        self.assertEqual((status, text.splitlines()[-1]), (1, "2 passed, 2 failed"))
        self.assertIn("build: t: skipped without a row in tests/skips.def: NVRTC is not installed: none found", text)
        other = dict(one("SKIP", "skipped: no tool\n"), name="project:suite / other")
        self.assertEqual(self.closing_line([one(), other])[0], 1)
        self.assertEqual(self.closing_line([one(), dict(other, name="project:suite / t")])[0], 0)

    def test_skip_is_right_only_under_its_condition(self):
        lit = one("OK", LIT.replace("  Failed     : 1 (14.29%)\n", ""))
        self.assertEqual(self.closing_line([lit])[0], 1)
        self.assertEqual(self.closing_line([lit], build="build-asan")[0], 0)

    def test_skip_that_says_nothing_is_a_failure(self):
        silent = GTEST.replace("t.cpp:9: Skipped\nno CUDA device\n", "").replace("FAILED", "OK")
        status, text = self.closing_line([one("OK", silent)])
        self.assertEqual(status, 1)
        self.assertIn("no reason printed", text)

    def test_table_of_skips_has_rows_alone(self):
        self.assertGreater(len(count_tests.read_skips(count_tests.SKIPS)), 10)
        for text in ('FW_SKIP(.test = "t", .reason = "r")', 'FW_SKIP(.test = "t", .reason = "r", .when = "never")', "junk"):
            with tempfile.TemporaryDirectory() as folder, self.assertRaises(ValueError):
                path = Path(folder) / "skips.def"
                path.write_text(text + "\n")
                count_tests.read_skips(path)

    def test_good_run(self):
        status, text = self.closing_line([one("OK", LIT.replace("  Failed     : 1 (14.29%)\n", "").replace("  Unsupported: 1 (14.29%)\n", ""))])
        self.assertEqual((status, text), (0, "5 passed, 0 failed\n"))

    def test_damaged_log_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "all.json"
            log.write_text(json.dumps(one()) + "\n{half\n")
            self.assertEqual([test["result"] for test in count_tests.read_log(log)], ["OK", "ERROR"])

    def test_broken_stage_and_empty_run_fail(self):
        status, text = self.closing_line([one()], "--broken-stages", "1")
        self.assertEqual((status, text.splitlines()[-1]), (1, "1 passed, 1 failed"))
        status, text = self.closing_line([])
        self.assertEqual((status, text.splitlines()[-1]), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
