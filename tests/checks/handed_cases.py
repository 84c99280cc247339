#!/usr/bin/env python3
"""Checks that every id of handed_cases.txt is a test: TEST(..., case_ID...) of GoogleTest, or
def test_case_ID... of Python. Prints the ids that are not.

usage: handed_cases.py [--table FILE] [--tests FOLDER]
"""
import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMED = {
    ".cpp": re.compile(r"^TEST(?:_F|_P)?\([^)]*\bcase_([A-Z][0-9]{2})", re.MULTILINE),
    ".py": re.compile(r"^ *def test_case_([A-Z][0-9]{2})", re.MULTILINE),
}


def wanted_ids(table):
    lines = (line.split("#")[0].split() for line in table.read_text(encoding="utf-8").splitlines())
    return [case for line in lines for case in line[1:]]


def tested_ids(folder):
    return {case for suffix, pattern in NAMED.items() for path in sorted(folder.rglob("*" + suffix))
            for case in pattern.findall(path.read_text(encoding="utf-8"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, default=HERE / "handed_cases.txt")
    parser.add_argument("--tests", type=Path, default=HERE.parent)
    options = parser.parse_args()
    wanted = wanted_ids(options.table)
    tested = tested_ids(options.tests)
    missing = [case for case in wanted if case not in tested]
    if missing:
        print(f"error: expected a test for each of {len(wanted)} cases, got none for {' '.join(missing)}; "
              f"name it case_{missing[0]}")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
